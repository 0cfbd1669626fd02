// The door of the control room: clock, events and everything else under `/_pullproof/`.
export { ControlError } from "./errors.ts";
export { type ControlRouterDeps, createControlRouter } from "./http.ts";
export { renderShellExports } from "./render.ts";
export { EventLog } from "./store.ts";
export type {
  ClientEnvironment,
  ControlledIssuer,
  EventFilter,
  EventPage,
  MintedToken,
  NodeController,
  StackController,
  TokenMintRequest,
  Trace,
} from "./types.ts";
