// The door of the apiserver room.
export { type ApiServer, type ApiServerOptions, createApiServer } from "./api-server.ts";
export { listManifestProblems, type ManifestProblem } from "./core/manifest.ts";
export { API_VERSIONS, type Gate, type KubernetesVersion } from "./core/profile.ts";
export { StatusError, type StatusReason } from "./errors.ts";
export { type ApiServerRouterOptions, createApiServerRouter } from "./http.ts";
export type { KubeObject, ObjectMeta, User } from "./types.ts";
