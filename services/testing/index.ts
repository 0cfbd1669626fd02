// The library: what `import … from "pullproof"` gives.
export type { StackOptions } from "../stack/index.ts";
export { type ConnectOptions, connectStack } from "./connect-stack.ts";
export type { RemoteClock, RemoteClockState, RemoteEvents, RemoteKubelet, RemoteStack } from "./remote-types.ts";
export { startStack } from "./start-stack.ts";
export type { AccountHandle, IssuerHandle, RegistryHandle, Stack, StackFetch } from "./types.ts";
