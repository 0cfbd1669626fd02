// The version of this package, as `health` and `--version` tell it. A test keeps it equal to package.json.
export const VERSION = "0.1.0";
