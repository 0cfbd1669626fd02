import { expect, test } from "vitest";
import type { Attributes, ResourceAttributes } from "../types.ts";
import { covers } from "./rbac.ts";

const GET_POD: ResourceAttributes = {
  kind: "resource",
  verb: "get",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "a",
  name: "p",
  fields: {},
};
const LOG: Attributes = { ...GET_POD, subresource: "log" };
const PATH: Attributes = { kind: "path", verb: "get", path: "/openid/v1/jwks" };

test.each([
  ["verb, group and resource", { verbs: ["get"], apiGroups: [""], resources: ["pods"] }, GET_POD, true],
  ["stars", { verbs: ["*"], apiGroups: ["*"], resources: ["*"] }, GET_POD, true],
  ["another verb", { verbs: ["list"], apiGroups: [""], resources: ["pods"] }, GET_POD, false],
  ["another group", { verbs: ["get"], apiGroups: ["apps"], resources: ["pods"] }, GET_POD, false],
  ["no group", { verbs: ["get"], resources: ["pods"] }, GET_POD, false],
  ["another resource", { verbs: ["get"], apiGroups: [""], resources: ["secrets"] }, GET_POD, false],
  ["the name", { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["p"] }, GET_POD, true],
  ["another name", { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["q"] }, GET_POD, false],
  [
    "a name, where none is asked for",
    { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["p"] },
    { ...GET_POD, name: "" },
    false,
  ],
  ["the resource only, for its subresource", { verbs: ["get"], apiGroups: [""], resources: ["pods"] }, LOG, false],
  ["the subresource", { verbs: ["get"], apiGroups: [""], resources: ["pods/log"] }, LOG, true],
  ["the subresource of all", { verbs: ["get"], apiGroups: [""], resources: ["*/log"] }, LOG, true],
  ["another subresource", { verbs: ["get"], apiGroups: [""], resources: ["pods/exec"] }, LOG, false],
  ["the path", { verbs: ["get"], nonResourceURLs: ["/openid/v1/jwks"] }, PATH, true],
  ["a path with a star", { verbs: ["get"], nonResourceURLs: ["/openid/*"] }, PATH, true],
  ["another path", { verbs: ["get"], nonResourceURLs: ["/openid"] }, PATH, false],
  ["resources, for a path", { verbs: ["*"], apiGroups: ["*"], resources: ["*"] }, PATH, false],
  ["paths, for a resource", { verbs: ["*"], nonResourceURLs: ["*"] }, GET_POD, false],
  ["nothing", {}, GET_POD, false],
])("a rule with %s covers the request: %#", (_what, rule, attributes, expected) => {
  expect(covers(rule, attributes)).toBe(expected);
});
