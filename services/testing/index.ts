// The library: what `import … from "pullproof"` gives.
export type { StackOptions } from "../stack/index.ts";
export { startStack } from "./start-stack.ts";
export type { AccountHandle, IssuerHandle, RegistryHandle, Stack, StackFetch } from "./types.ts";
