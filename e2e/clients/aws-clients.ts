// Programs on an AWS SDK that find their identity by themselves, and what each SDK says when it is refused.
import { join } from "node:path";
import { findGoProgram, findPythonProgram } from "./programs.ts";
import type { Words } from "./stage.ts";

export interface SdkProgram {
  readonly name: string;
  /** `whoami`, `pull IMAGE`, `push IMAGE`, `create REPOSITORY` */
  run(...words: string[]): Words;
  readonly says: {
    readonly foreignRole: string;
    /** Before ECR's own explanation. */
    readonly noCreate: string;
    readonly unknownCa: string;
  };
}

/** The same four commands on two SDKs. */
export const SDK_PROGRAMS: readonly SdkProgram[] = [
  {
    name: "boto3",
    run: (...words) => [findPythonProgram("python"), join(import.meta.dirname, "python/registry.py"), ...words],
    says: {
      foreignRole:
        "An error occurred (AccessDenied) when calling the AssumeRoleWithWebIdentity operation: Not authorized to perform sts:AssumeRoleWithWebIdentity",
      noCreate: "An error occurred (AccessDeniedException) when calling the CreateRepository operation: ",
      unknownCa: "SSL validation failed for https://sts.us-west-2.amazonaws.com/",
    },
  },
  {
    name: "go-sdk",
    run: (...words) => [findGoProgram(), ...words],
    says: {
      foreignRole: "api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity",
      noCreate: "operation error ECR: CreateRepository, https response error StatusCode: 400",
      unknownCa: "tls: failed to verify certificate: x509: certificate signed by unknown authority",
    },
  },
];
