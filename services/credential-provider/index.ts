// The door of the credential provider: where its executable is, and what makes it.
export { BUNDLE_FILES, createBundleOptions } from "./bundle.ts";
export { createBuiltinPluginDirectory, findPluginFile, type PluginFileOptions } from "./data-dir.ts";
