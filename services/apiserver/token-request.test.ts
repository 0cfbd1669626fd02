import { expect, test } from "vitest";
import {
  ACCOUNT,
  AUDIENCE,
  boundTo,
  claimsOf,
  ISSUER,
  NOW,
  PODS,
  pod,
  startCluster,
  tokenRequest,
} from "./testdata/cluster.ts";

const SECRET = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s", namespace: "team-a" },
  stringData: { a: "b" },
};
const OBJECTS = [
  pod("app"),
  pod("loose", { nodeName: undefined }),
  pod("foreign", { serviceAccountName: "other" }),
  SECRET,
];
const TOKEN = `${ACCOUNT}/token`;

test("a pod-bound token carries exactly the claims of a real one", async () => {
  await using cluster = await startCluster({ objects: OBJECTS });
  const uids = {
    pod: await cluster.uidOf(`${PODS}/app`),
    account: await cluster.uidOf(ACCOUNT),
    node: await cluster.uidOf("/api/v1/nodes/node-1"),
  };
  const answer = await cluster.admin("POST", TOKEN, tokenRequest({ boundObjectRef: boundTo("app", uids.pod) }));
  expect(answer.status).toBe(201);
  const { status, ...rest } = answer.body;
  expect(rest).toEqual({
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { name: "puller", namespace: "team-a", uid: uids.account, creationTimestamp: "2026-09-21T14:13:20Z" },
    spec: { audiences: [AUDIENCE], expirationSeconds: 3600, boundObjectRef: boundTo("app", uids.pod) },
  });
  expect(status.expirationTimestamp).toBe("2026-09-21T15:13:20Z");
  const [header, payload] = status.token.split(".").map((part: string) => Buffer.from(part, "base64url").toString());
  const [key] = await cluster.issuer.keys();
  expect(header).toBe(`{"alg":"ES256","kid":"${key?.kid}"}`);
  const { jti } = JSON.parse(payload);
  expect(jti).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(payload).toBe(
    `{"aud":["${AUDIENCE}"],"exp":${NOW + 3600},"iat":${NOW},"iss":"${ISSUER}","jti":"${jti}","kubernetes.io":{"namespace":"team-a",` +
      `"node":{"name":"node-1","uid":"${uids.node}"},"pod":{"name":"app","uid":"${uids.pod}"},"serviceaccount":{"name":"puller","uid":"${uids.account}"}},` +
      `"nbf":${NOW},"sub":"system:serviceaccount:team-a:puller"}`,
  );
  expect(cluster.events.events.at(-1)).toMatchObject({
    operation: "apiserver:CreateToken",
    principal: "kubernetes-admin",
    resource: "team-a/serviceaccounts/puller",
    decision: "allow",
    lineage: jti,
    notes: { audience: AUDIENCE, boundTo: "app" },
  });
});

test.each([
  ["nothing", null, {}],
  ["a Pod without a node", boundTo("loose"), { pod: { name: "loose" } }],
  ["a Secret", boundTo("s", undefined, "Secret"), { secret: { name: "s" } }],
  ["a Node", boundTo("node-2", undefined, "Node"), { node: { name: "node-2" } }],
])("a token bound to %s names it and nothing else", async (_what, boundObjectRef, expected) => {
  await using cluster = await startCluster({ objects: OBJECTS });
  const answer = await cluster.admin("POST", TOKEN, tokenRequest({ boundObjectRef }));
  expect(answer.status).toBe(201);
  const { namespace: _namespace, serviceaccount: _account, ...bound } = claimsOf(answer)["kubernetes.io"];
  expect(bound).toMatchObject(expected);
  expect(Object.keys(bound)).toEqual(Object.keys(expected));
});

test("the node's uid is left out once the Node object is gone", async () => {
  await using cluster = await startCluster({ objects: OBJECTS });
  await cluster.admin("DELETE", "/api/v1/nodes/node-1");
  const answer = await cluster.admin("POST", TOKEN, tokenRequest({ boundObjectRef: boundTo("app") }));
  expect(claimsOf(answer)["kubernetes.io"].node).toEqual({ name: "node-1" });
});

const NAMED = { name: "puller", namespace: "team-a" };
const INVALID = 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value:';

test.each([
  ["names that fit the URL", tokenRequest({}, NAMED), 201, ""],
  ["another name", tokenRequest({}, { ...NAMED, name: "x" }), 422, /metadata\.name: Invalid value: "x"/],
  ["another namespace", tokenRequest({}, { ...NAMED, namespace: "x" }), 400, /does not match the namespace/],
  ["600 seconds", tokenRequest({ expirationSeconds: 600 }), 201, ""],
  [
    "599 seconds",
    tokenRequest({ expirationSeconds: 599 }),
    422,
    `${INVALID} 599: may not specify a duration less than 10 minutes`,
  ],
  ["2^32 seconds", tokenRequest({ expirationSeconds: 4294967296 }), 201, ""],
  [
    "2^32 + 1 seconds",
    tokenRequest({ expirationSeconds: 4294967297 }),
    422,
    /4294967297: may not specify a duration larger/,
  ],
  ["null seconds", tokenRequest({ expirationSeconds: null }), 201, ""],
  ["seconds as text", tokenRequest({ expirationSeconds: "600" }), 400, /spec\.expirationSeconds of type int64/],
  ["half a second", tokenRequest({ expirationSeconds: 3600.5 }), 400, /spec\.expirationSeconds of type int64/],
  ["one audience as text", tokenRequest({ audiences: "a" }), 400, /spec\.audiences of type \[\]string/],
  ["a reference that is a text", tokenRequest({ boundObjectRef: "app" }), 400, /spec\.boundObjectRef/],
  ["the Pod", tokenRequest({ boundObjectRef: boundTo("app") }), 201, ""],
  ["a Pod that is not there", tokenRequest({ boundObjectRef: boundTo("nope") }), 404, 'pods "nope" not found'],
  [
    "a Pod of another account",
    tokenRequest({ boundObjectRef: boundTo("foreign") }),
    400,
    'cannot bind token for serviceaccount "puller" to pod running with serviceaccount "other"',
  ],
  [
    "a Pod with another uid",
    tokenRequest({ boundObjectRef: boundTo("app", "u") }),
    409,
    /^Operation cannot be fulfilled on Pod "app": the UID in the bound object reference \(u\)/,
  ],
  [
    "a Secret that is not there",
    tokenRequest({ boundObjectRef: boundTo("nope", undefined, "Secret") }),
    404,
    'secrets "nope" not found',
  ],
  ["a Secret with another uid", tokenRequest({ boundObjectRef: boundTo("s", "u", "Secret") }), 409, /on Secret "s"/],
  [
    "a ConfigMap",
    tokenRequest({ boundObjectRef: boundTo("app", undefined, "ConfigMap") }),
    400,
    "cannot bind token to object of type /v1, Kind=ConfigMap",
  ],
  [
    "a Pod of another group",
    tokenRequest({ boundObjectRef: { ...boundTo("app"), apiVersion: "apps/v1" } }),
    400,
    "cannot bind token to object of type apps/v1, Kind=Pod",
  ],
  ["another kind of object", { apiVersion: "v1", kind: "Pod" }, 400, /does not match the expected API version/],
  ["another kind of its group", { ...tokenRequest(), kind: "TokenReview" }, 400, /cannot be handled as a TokenRequest/],
])("a request with %s: %#", async (_what, body, status, message) => {
  await using cluster = await startCluster({ objects: OBJECTS });
  const answer = await cluster.admin("POST", TOKEN, body);
  expect(answer.body.message ?? "").toMatch(message);
  expect(answer.status).toBe(status);
});

test("checks come in the order of the handler", async () => {
  await using cluster = await startCluster({ objects: OBJECTS });
  const worst = { audiences: [], expirationSeconds: 1, boundObjectRef: boundTo("nope", "u") };
  const statuses: number[] = [];
  const tell = async (path: string, body: unknown) =>
    void statuses.push((await cluster.admin("POST", path, body)).status);
  const absent = "/api/v1/namespaces/team-a/serviceaccounts/absent/token";
  await tell(absent, tokenRequest(worst, { name: "x", uid: "u" }));
  await tell(absent, tokenRequest(worst, { uid: "u" }));
  await tell(TOKEN, tokenRequest(worst, { uid: "u" }));
  await tell(TOKEN, tokenRequest(worst));
  await tell(TOKEN, tokenRequest({ ...worst, expirationSeconds: 600 }));
  await tell(TOKEN, tokenRequest({ ...worst, expirationSeconds: 600, boundObjectRef: boundTo("foreign", "u") }));
  await tell(TOKEN, tokenRequest({ ...worst, expirationSeconds: 600, boundObjectRef: boundTo("app", "u") }));
  expect(statuses).toEqual([422, 404, 409, 422, 404, 400, 409]);
});

test("an unknown ServiceAccount is named in the Status", async () => {
  await using cluster = await startCluster();
  const answer = await cluster.admin("POST", "/api/v1/namespaces/team-a/serviceaccounts/absent/token", tokenRequest());
  expect(answer.body).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: 'serviceaccounts "absent" not found',
    reason: "NotFound",
    details: { name: "absent", kind: "serviceaccounts" },
    code: 404,
  });
});

test.each([
  ["1.36, gate on", { version: "1.36" }, "wrong", 409, undefined],
  ["1.36, gate on, right uid", { version: "1.36" }, "right", 201, undefined],
  [
    "1.36, gate off",
    { version: "1.36", gates: { TokenRequestServiceAccountUIDValidation: false } },
    "wrong",
    201,
    /^299 - "the UID in the token request \(wrong\) does not match/,
  ],
  ["1.33 does not look", { version: "1.33" }, "wrong", 201, undefined],
] as const)("metadata.uid, %s", async (_what, options, which, status, warning) => {
  await using cluster = await startCluster(options);
  const uid = which === "right" ? await cluster.uidOf(ACCOUNT) : which;
  const answer = await cluster.admin("POST", TOKEN, tokenRequest({}, { uid }));
  expect(answer.status).toBe(status);
  if (warning) expect(answer.headers.get("warning")?.replaceAll("\\", "")).toMatch(warning);
  else expect(answer.headers.get("warning")).toBeNull();
  if (status === 409) {
    expect(answer.body.message).toMatch(
      /^Operation cannot be fulfilled on TokenRequest\.authentication\.k8s\.io "puller": the UID in the token request \(wrong\) does not match the UID of the service account \([0-9a-f-]{36}\)$/,
    );
    expect(cluster.events.events.at(-1)).toMatchObject({ decision: "deny", reason: "uid-mismatch" });
  } else expect("uid" in answer.body.metadata).toBe(options.version !== "1.33");
});

test.each([
  [7200, 7200, null],
  [7800, 7200, '299 - "requested expiration of 7800 seconds shortened to 7200 seconds"'],
])("with a maximum of 7200 s, %i s become %i s", async (asked, granted, warning) => {
  await using cluster = await startCluster({ maxTokenExpirationSeconds: 7200 });
  const answer = await cluster.admin("POST", TOKEN, tokenRequest({ expirationSeconds: asked }));
  expect(answer.status).toBe(201);
  expect(claimsOf(answer).exp).toBe(NOW + granted);
  expect(answer.body.spec.expirationSeconds).toBe(granted);
  expect(answer.headers.get("warning")).toBe(warning);
});

test.each([
  ["no limit", 0, true],
  ["an hour", 3600, true],
  ["less than an hour", 3599, false],
  ["2^32 s", 2 ** 32, true],
  ["more than 2^32 s", 2 ** 32 + 1, false],
])("--service-account-max-token-expiration: %s", async (_what, maxTokenExpirationSeconds, accepted) => {
  const start = async () => void (await using_(await startCluster({ maxTokenExpirationSeconds })));
  if (accepted) await start();
  else await expect(start()).rejects.toThrow(/expected maxTokenExpirationSeconds from 3600 to 4294967296/);
});

async function using_(cluster: AsyncDisposable): Promise<void> {
  await cluster[Symbol.asyncDispose]();
}

const YEAR = 31_536_000;
const BOUND = boundTo("app");

test.each([
  [
    "the API audience, pod-bound, 3607 s",
    { audiences: [ISSUER], expirationSeconds: 3607, boundObjectRef: BOUND },
    {},
    YEAR,
  ],
  ["no audience, pod-bound, 3607 s", { audiences: [], expirationSeconds: 3607, boundObjectRef: BOUND }, {}, YEAR],
  ["a foreign audience", { expirationSeconds: 3607, boundObjectRef: BOUND }, {}, 3607],
  [
    "one foreign audience of two",
    { audiences: [ISSUER, "x"], expirationSeconds: 3607, boundObjectRef: BOUND },
    {},
    3607,
  ],
  ["3606 s", { audiences: [ISSUER], expirationSeconds: 3606, boundObjectRef: BOUND }, {}, 3606],
  ["not bound", { audiences: [ISSUER], expirationSeconds: 3607 }, {}, 3607],
  [
    "bound to a Secret",
    { audiences: [ISSUER], expirationSeconds: 3607, boundObjectRef: boundTo("s", undefined, "Secret") },
    {},
    3607,
  ],
  [
    "switched off",
    { audiences: [ISSUER], expirationSeconds: 3607, boundObjectRef: BOUND },
    { extendTokenExpiration: false },
    3607,
  ],
  [
    "a maximum just below",
    { audiences: [ISSUER], expirationSeconds: 3607, boundObjectRef: BOUND },
    { maxTokenExpirationSeconds: 3606 },
    3606,
  ],
])("extended expiration: %s", async (_what, spec, options, lifetime) => {
  await using cluster = await startCluster({ objects: OBJECTS, ...options });
  const answer = await cluster.admin("POST", TOKEN, tokenRequest(spec));
  const claims = claimsOf(answer);
  expect(claims.exp).toBe(NOW + lifetime);
  expect(claims["kubernetes.io"].warnafter).toBe(lifetime === YEAR ? NOW + 3607 : undefined);
  const told = Math.min(lifetime, 3607);
  expect(answer.body.status.expirationTimestamp).toBe(`${new Date((NOW + told) * 1000).toISOString().slice(0, 19)}Z`);
});

const WEBHOOK = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration", name: "w" };
const GROUPS = { admissionReviewAPIGroups: ["admission.k8s.io"] };

test.each([
  [
    "1.37",
    "attestations without a webhook, also with a bad lifetime",
    { attestations: GROUPS, expirationSeconds: 1 },
    422,
    /spec\.attestations: Invalid value: .*: attestations may only be specified with a webhook bound object reference$/,
  ],
  ["1.37", "no attestations", { attestations: {} }, 201, ""],
  ["1.36", "attestations, which it does not know", { attestations: GROUPS }, 201, ""],
  ["1.37", "a webhook without attestations", { boundObjectRef: WEBHOOK }, 422, /spec\.attestations/],
  [
    "1.37",
    "a webhook with two audiences",
    { boundObjectRef: WEBHOOK, attestations: GROUPS, audiences: ["a", "b"] },
    422,
    /spec\.audiences/,
  ],
  [
    "1.37",
    "a webhook with all it needs",
    { boundObjectRef: WEBHOOK, attestations: GROUPS },
    400,
    "cannot bind token to object of type admissionregistration.k8s.io/v1, Kind=ValidatingWebhookConfiguration (feature gate APIServerWebhookAuthenticationToken is disabled)",
  ],
  [
    "1.36",
    "a webhook",
    { boundObjectRef: WEBHOOK },
    400,
    /^cannot bind token to object of type admissionregistration.k8s.io\/v1, Kind=ValidatingWebhookConfiguration$/,
  ],
] as const)("Kubernetes %s: %s", async (version, _what, spec, status, message) => {
  await using cluster = await startCluster({ version });
  const answer = await cluster.admin("POST", TOKEN, tokenRequest(spec));
  expect(answer.body.message ?? "").toMatch(message);
  expect(answer.status).toBe(status);
});
