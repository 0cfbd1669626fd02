// IAM: who may do what. The only door of this room.
export { renderDenial } from "./core/denial.ts";
export { listPolicyProblems, parsePolicy } from "./core/policy.ts";
export { findMissingSubjectCondition } from "./core/subject.ts";
export { IamError, type IamErrorCode, type PolicyProblem } from "./errors.ts";
export { createIam, type IamOptions } from "./iam.ts";
export type {
  AccessRequest,
  AccountSeed,
  Decision,
  DecisionReason,
  Iam,
  OidcProvider,
  Policy,
  PolicyKind,
  RequestContext,
  Role,
  RoleSeed,
  StatementOutcome,
  User,
  UserSeed,
  WebIdentityRequest,
} from "./types.ts";
