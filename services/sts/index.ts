// STS: web identities in, temporary credentials out. The only door of this room.
export { createStsRouter, type StsRouterOptions } from "./http.ts";
export { createSts, type StsDeps } from "./sts.ts";
export type { Credentials, RoleSession, SessionRequest, Sts, StsOptions } from "./types.ts";
