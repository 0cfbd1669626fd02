import { describe, expect, it } from "vitest";
import type { CredentialProviderRequest, Identity } from "../types.ts";
import { decideIdentity, ROLE_ANNOTATION } from "./identity.ts";

const TOKEN = "header.payload.signature";
const fallback: Identity = { kind: "node", because: "no-role" };

function request(token: string, annotations: Record<string, string>): CredentialProviderRequest {
  return { image: "registry.test/a", serviceAccountToken: token, serviceAccountAnnotations: annotations };
}

describe("which identity asks ECR (v1.35.0 and later)", () => {
  it.each<[string, CredentialProviderRequest, string | undefined, Identity]>([
    ["no token: the node", request("", { [ROLE_ANNOTATION]: "arn:a" }), "arn:e", { kind: "node", because: "no-token" }],
    [
      "the annotation's role",
      request(TOKEN, { [ROLE_ANNOTATION]: "arn:a" }),
      undefined,
      { kind: "role", roleArn: "arn:a" },
    ],
    [
      "the annotation wins over the environment",
      request(TOKEN, { [ROLE_ANNOTATION]: "arn:a" }),
      "arn:e",
      { kind: "role", roleArn: "arn:a" },
    ],
    ["without annotation the environment's role", request(TOKEN, {}), "arn:e", { kind: "role", roleArn: "arn:e" }],
    ["without either the node", request(TOKEN, {}), undefined, fallback],
    ["an empty environment variable is none", request(TOKEN, {}), "", fallback],
    [
      "an empty annotation switches the environment's role off",
      request(TOKEN, { [ROLE_ANNOTATION]: "" }),
      "arn:e",
      fallback,
    ],
    [
      "the annotation of IRSA does not count",
      request(TOKEN, { "eks.amazonaws.com/role-arn": "arn:a" }),
      undefined,
      fallback,
    ],
    [
      "a role named by the prototype is none",
      request(TOKEN, Object.create({ [ROLE_ANNOTATION]: "arn:a" })),
      undefined,
      fallback,
    ],
  ])("%s", (_, input, environment, expected) => {
    expect(decideIdentity(input, environment)).toEqual(expected);
  });
});
