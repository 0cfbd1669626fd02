// The door of the stack room: start one, and parse its world.

export { VERSION } from "../shared/version.ts";
export { DEFAULT_WORLD } from "./default-world.ts";
export { listHostNames } from "./host-names.ts";
export { createHostTable, ecrHostsOf } from "./hosts.ts";
export type { Rooms } from "./rooms.ts";
export { loadWorld } from "./seed.ts";
export { createStack, type RunningStack } from "./stack.ts";
export type { StackOptions } from "./stack-options.ts";
export type { World, WorldMistake, WorldSwitches } from "./types.ts";
export { parseWorldObject } from "./world.ts";
export { WorldError } from "./world-error.ts";
