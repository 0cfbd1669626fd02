import { describe, expect, test } from "vitest";
import {
  ACCOUNT,
  AUDIENCE,
  audienceRole,
  bindingTo,
  boundTo,
  type Cluster,
  ISSUER,
  NODES_GROUP,
  PODS,
  pod,
  startCluster,
  tokenRequest,
} from "./testdata/cluster.ts";

const TOKEN = `${ACCOUNT}/token`;
const RBAC = [audienceRole("aud"), bindingTo("aud", NODES_GROUP)];
const NODE_USER = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "system:node:node-1" };

async function ask(cluster: Cluster, spec: Record<string, unknown>, options: { node?: string; account?: string } = {}) {
  const path = `/api/v1/namespaces/team-a/serviceaccounts/${options.account ?? "puller"}/token`;
  return cluster.node(options.node ?? "node-1", "POST", path, tokenRequest(spec));
}

describe("node authorizer (spec kubelet 5.1)", () => {
  test("a node gets the account of a Pod on it, another node does not", async () => {
    await using cluster = await startCluster({ objects: [pod("app")] });
    expect((await cluster.node("node-1", "GET", ACCOUNT)).status).toBe(200);
    const refused = await cluster.node("node-2", "GET", ACCOUNT);
    expect(refused.body).toMatchObject({
      code: 403,
      reason: "Forbidden",
      details: { name: "puller", kind: "serviceaccounts" },
      message: `serviceaccounts "puller" is forbidden: User "system:node:node-2" cannot get resource "serviceaccounts" in API group "" in the namespace "team-a": no relationship found between node 'node-2' and this object`,
    });
    expect(cluster.events.events.at(-1)).toMatchObject({
      operation: "apiserver:GetServiceAccount",
      principal: "system:node:node-2",
      reason: "no-relationship-to-node",
    });
  });

  test("the relation ends with the Pod", async () => {
    await using cluster = await startCluster({ objects: [pod("app")] });
    await cluster.admin("DELETE", `${PODS}/app`);
    expect((await cluster.node("node-1", "GET", ACCOUNT)).status).toBe(403);
  });

  test("tokens are created by nodes that run the account", async () => {
    await using cluster = await startCluster({ objects: [pod("app"), ...RBAC] });
    const boundObjectRef = boundTo("app", await cluster.uidOf(`${PODS}/app`));
    expect((await ask(cluster, { boundObjectRef })).status).toBe(201);
    const refused = await ask(cluster, { boundObjectRef }, { node: "node-2" });
    expect(refused.body.message).toBe(
      `serviceaccounts "puller" is forbidden: User "system:node:node-2" cannot create resource "serviceaccounts/token" in API group "" in the namespace "team-a": no relationship found between node 'node-2' and this object`,
    );
    expect((await ask(cluster, { boundObjectRef }, { account: "other" })).status).toBe(403);
  });

  test.each([
    ["1.33", {}, 403],
    ["1.33", { KubeletServiceAccountTokenForCredentialProviders: true }, 200],
    ["1.34", {}, 200],
    ["1.36", { KubeletServiceAccountTokenForCredentialProviders: false }, 403],
    ["1.36", { KubeletServiceAccountTokenForCredentialProviders: false, PodCertificateRequest: true }, 200],
    ["1.37", { KubeletServiceAccountTokenForCredentialProviders: false }, 200],
  ] as const)("Kubernetes %s with %j answers GET serviceaccount with %i", async (version, gates, status) => {
    await using cluster = await startCluster({ objects: [pod("app")], version, gates });
    const answer = await cluster.node("node-1", "GET", ACCOUNT);
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.message).toMatch(/: not allowed to get service accounts$/);
  });

  test.each([
    ["a pull secret", { imagePullSecrets: [{ name: "s" }] }],
    ["a volume", { volumes: [{ name: "v", secret: { secretName: "s" } }] }],
    ["a projected volume", { volumes: [{ name: "v", projected: { sources: [{ secret: { name: "s" } }] } }] }],
    [
      "a variable",
      { containers: [{ name: "c", image: "i", env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s" } } }] }] },
    ],
    ["an environment", { initContainers: [{ name: "c", image: "i", envFrom: [{ secretRef: { name: "s" } }] }] }],
  ])("a node reads the Secret that a Pod names as %s, and no other", async (_what, spec) => {
    const secret = (name: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace: "team-a" },
      stringData: { a: "b" },
    });
    await using cluster = await startCluster({ objects: [pod("app", spec), secret("s"), secret("t")] });
    const path = "/api/v1/namespaces/team-a/secrets";
    expect((await cluster.node("node-1", "GET", `${path}/s`)).status).toBe(200);
    expect((await cluster.node("node-1", "GET", `${path}/t`)).body.message).toMatch(
      /no relationship found between node 'node-1'/,
    );
    expect((await cluster.node("node-2", "GET", `${path}/s`)).status).toBe(403);
    expect((await cluster.node("node-1", "GET", `${path}?fieldSelector=metadata.name%3Ds`)).body.items).toHaveLength(1);
    expect((await cluster.node("node-1", "GET", path)).body.message).toMatch(/No Object name found/);
    expect((await cluster.node("node-1", "DELETE", `${path}/s`)).body.message).toMatch(
      /can only read resources of this type/,
    );
  });

  test.each([
    ["GET", `${PODS}/app`, 200, 403],
    ["GET", `${PODS}?fieldSelector=spec.nodeName%3Dnode-1`, 200, 403],
    ["GET", "/api/v1/pods?fieldSelector=spec.nodeName=node-1", 200, 403],
    ["GET", PODS, 403, 403],
    ["GET", "/api/v1/nodes/node-1", 200, 403],
    ["GET", "/api/v1/nodes", 403, 403],
    ["GET", "/api/v1/namespaces/team-a", 403, 403],
    ["DELETE", `${PODS}/app`, 200, 403],
    ["DELETE", "/api/v1/nodes/node-1", 403, 403],
    ["DELETE", ACCOUNT, 403, 403],
    ["GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", 403, 403],
  ])("%s %s: %i for the node itself, %i for another", async (method, path, own, other) => {
    await using cluster = await startCluster({ objects: [pod("app")] });
    expect((await cluster.node("node-2", method, path)).status).toBe(other);
    expect((await cluster.node("node-1", method, path)).status).toBe(own);
  });

  test("a Pod lends its node what is in its own namespace, not what has the same name in another", async () => {
    const named = (namespace: string) => [
      { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace }, stringData: { a: "b" } },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "twin", namespace } },
    ];
    const spec = { serviceAccountName: "twin", imagePullSecrets: [{ name: "s" }] };
    await using cluster = await startCluster({
      objects: [...named("team-a"), ...named("team-b"), pod("app", spec, "team-b")],
    });
    for (const [namespace, status] of [
      ["team-b", 200],
      ["team-a", 403],
    ] as const) {
      for (const what of ["secrets/s", "serviceaccounts/twin"]) {
        expect((await cluster.node("node-1", "GET", `/api/v1/namespaces/${namespace}/${what}`)).status).toBe(status);
      }
    }
  });

  test("a mirror Pod lends its node nothing", async () => {
    const mirror = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "m", annotations: { "kubernetes.io/config.mirror": "x" } },
      spec: { nodeName: "node-1", containers: [{ name: "c", image: "i" }] },
    };
    await using cluster = await startCluster();
    expect(
      (
        await cluster.node("node-1", "POST", PODS, {
          ...mirror,
          spec: { ...mirror.spec, serviceAccountName: "puller" },
        })
      ).status,
    ).toBe(403);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "b" } };
    await cluster.admin("POST", "/api/v1/namespaces/team-a/secrets", secret);
    const created = await cluster.node("node-1", "POST", PODS, {
      ...mirror,
      spec: { ...mirror.spec, imagePullSecrets: [{ name: "s" }] },
    });
    expect(created.status).toBe(201);
    expect((await cluster.node("node-1", "GET", "/api/v1/namespaces/team-a/secrets/s")).status).toBe(403);
  });
});

describe("NodeRestriction (spec kubelet 5.2)", () => {
  const FORBIDDEN = 'serviceaccounts "puller" is forbidden: ';
  const other = pod("elsewhere", { nodeName: "node-2" });

  test.each([
    ["no reference", undefined, 403, `${FORBIDDEN}node requested token not bound to a pod`, "not-bound-to-pod"],
    [
      "a Secret",
      { ...boundTo("app", "UID"), kind: "Secret" },
      403,
      `${FORBIDDEN}node requested token not bound to a pod`,
      "not-bound-to-pod",
    ],
    [
      "another version",
      { ...boundTo("app", "UID"), apiVersion: "v2" },
      403,
      `${FORBIDDEN}node requested token not bound to a pod`,
      "not-bound-to-pod",
    ],
    [
      "an empty name",
      boundTo("", "UID"),
      403,
      `${FORBIDDEN}node requested token not bound to a pod`,
      "not-bound-to-pod",
    ],
    [
      "no uid",
      boundTo("app"),
      403,
      `${FORBIDDEN}node requested token with a pod binding without a uid`,
      "pod-uid-missing",
    ],
    ["an unknown Pod", boundTo("nope", "UID"), 404, 'pod "nope" not found', "pod-not-found"],
    [
      "another uid",
      boundTo("app", "u"),
      403,
      `${FORBIDDEN}the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated`,
      "uid-mismatch",
    ],
    [
      "a Pod on another node",
      boundTo("elsewhere", "UID"),
      403,
      `${FORBIDDEN}node requested token bound to a pod scheduled on a different node`,
      "pod-on-other-node",
    ],
    ["the Pod", boundTo("app", "UID"), 201, "", undefined],
  ])("a reference: %s", async (_what, ref, status, message, reason) => {
    await using cluster = await startCluster({ objects: [pod("app"), other, ...RBAC] });
    const uid =
      ref?.name === "elsewhere" ? await cluster.uidOf(`${PODS}/elsewhere`) : await cluster.uidOf(`${PODS}/app`);
    const boundObjectRef = ref && "uid" in ref && ref.uid === "UID" ? { ...ref, uid } : ref;
    const answer = await ask(cluster, boundObjectRef ? { boundObjectRef } : {});
    expect(answer.body.message ?? "").toBe(message);
    expect(answer.status).toBe(status);
    expect(cluster.events.events.at(-1)?.reason).toBe(reason);
  });

  test("rules come in order: the reference before the audiences, both before the handler", async () => {
    await using cluster = await startCluster({ objects: [pod("app")] });
    const uid = await cluster.uidOf(`${PODS}/app`);
    const two = { audiences: ["a", "b"], expirationSeconds: 1 };
    expect((await ask(cluster, two)).body.message).toMatch(/not bound to a pod/);
    expect((await ask(cluster, { ...two, boundObjectRef: boundTo("app", uid) })).body.message).toBe(
      `${FORBIDDEN}node may only request 0 or 1 audiences`,
    );
    expect((await ask(cluster, { ...two, audiences: ["a"], boundObjectRef: boundTo("app", uid) })).status).toBe(403);
    const granted = await startCluster({ objects: [pod("app"), ...RBAC] });
    const ref = boundTo("app", await granted.uidOf(`${PODS}/app`));
    expect((await ask(granted, { expirationSeconds: 1, boundObjectRef: ref })).status).toBe(422);
    await granted[Symbol.asyncDispose]();
  });

  const LONG = `${FORBIDDEN}audience "${AUDIENCE}" not found in pod spec volume, system:node:node-1 is not authorized to request tokens for this audience`;
  const SHORT = `${FORBIDDEN}system:node:node-1 is not authorized to request tokens for audience "${AUDIENCE}"`;

  test.each([
    ["1.33", {}, RBAC, 201, ""],
    ["1.33", {}, [], 403, LONG],
    ["1.36", {}, [], 403, LONG],
    ["1.36", { ServiceAccountNodeAudienceRestriction: false }, [], 201, ""],
    ["1.37", {}, RBAC, 201, ""],
    ["1.37", {}, [], 403, SHORT],
  ])("Kubernetes %s with gates %j", async (version, gates, objects, status, message) => {
    await using cluster = await startCluster({ objects: [pod("app"), ...objects], version: version as "1.33", gates });
    const answer = await ask(cluster, { boundObjectRef: boundTo("app", await cluster.uidOf(`${PODS}/app`)) });
    expect(answer.body.message ?? "").toBe(message);
    expect(answer.status).toBe(status);
    if (status === 403) {
      expect(cluster.events.events.at(-1)).toMatchObject({
        decision: "deny",
        reason: "audience-not-allowed",
        notes: { audience: AUDIENCE },
      });
    }
  });

  test.each([
    ["the group of nodes", [audienceRole("r"), bindingTo("r", NODES_GROUP)], 201],
    ["this node", [audienceRole("r"), bindingTo("r", NODE_USER)], 201],
    ["another node", [audienceRole("r"), bindingTo("r", { ...NODE_USER, name: "system:node:node-2" })], 403],
    ["any audience", [audienceRole("r", [], "*"), bindingTo("r", NODES_GROUP)], 201],
    ["another audience", [audienceRole("r", [], "other"), bindingTo("r", NODES_GROUP)], 403],
    ["this account", [audienceRole("r", ["puller"]), bindingTo("r", NODES_GROUP)], 201],
    ["another account", [audienceRole("r", ["other"]), bindingTo("r", NODES_GROUP)], 403],
    ["the namespace", [audienceRole("r"), bindingTo("r", NODES_GROUP, "team-a")], 201],
    ["another namespace", [audienceRole("r"), bindingTo("r", NODES_GROUP, "team-b")], 403],
    ["a role that is not there", [bindingTo("r", NODES_GROUP)], 403],
    [
      "another verb",
      [
        { ...audienceRole("r"), rules: [{ apiGroups: [""], verbs: ["create"], resources: [AUDIENCE] }] },
        bindingTo("r", NODES_GROUP),
      ],
      403,
    ],
    [
      "another group",
      [
        { ...audienceRole("r"), rules: [{ apiGroups: ["x"], verbs: ["*"], resources: [AUDIENCE] }] },
        bindingTo("r", NODES_GROUP),
      ],
      403,
    ],
  ])("the audience is granted to %s: %#", async (_what, objects, status) => {
    await using cluster = await startCluster({ objects: [pod("app"), ...objects] });
    const answer = await ask(cluster, { boundObjectRef: boundTo("app", await cluster.uidOf(`${PODS}/app`)) });
    expect(answer.status).toBe(status);
    if (status === 201)
      expect(cluster.events.events.at(-1)?.decidedBy).toMatch(
        /Binding .*r-binding → clusterrole\.rbac\.authorization\.k8s\.io "r"/,
      );
  });

  const driver = (...audiences: string[]) => ({
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: "csi.test" },
    spec: { tokenRequests: audiences.map((audience) => ({ audience })) },
  });
  const claim = (name: string, volumeName = "pv") => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "team-a" },
    spec: { volumeName },
  });
  const volume = (source: Record<string, unknown> = { csi: { driver: "csi.test" } }) => ({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "pv" },
    spec: source,
  });
  const INLINE = { name: "v", csi: { driver: "csi.test" } };
  const CLAIMED = { name: "v", persistentVolumeClaim: { claimName: "c" } };
  const projected = (audience: string) => ({
    name: "t",
    projected: { sources: [{ serviceAccountToken: { audience, path: "t" } }] },
  });
  const MISSING = `${FORBIDDEN}error validating audience "${AUDIENCE}": `;

  test.each([
    ["a projected volume", [projected(AUDIENCE)], [], 201, ""],
    ["a projected volume with another audience", [projected("x")], [], 403, LONG],
    ["an inline CSI driver", [INLINE], [driver(AUDIENCE)], 201, ""],
    ["an inline CSI driver with another audience", [INLINE], [driver("x")], 403, LONG],
    ["a claimed volume", [CLAIMED], [driver("x", AUDIENCE), claim("c"), volume()], 201, ""],
    ["a claimed volume of another driver", [CLAIMED], [driver(AUDIENCE), claim("c"), volume({ nfs: {} })], 403, LONG],
    ["an ephemeral volume", [{ name: "v", ephemeral: {} }], [driver(AUDIENCE), claim("app-v"), volume()], 201, ""],
    [
      "an ephemeral volume without its claim",
      [{ name: "v", ephemeral: {} }],
      [driver(AUDIENCE)],
      403,
      `${MISSING}persistentvolumeclaim "app-v" not found`,
    ],
    [
      "a migrated volume",
      [{ name: "v", awsElasticBlockStore: {} }],
      [{ ...driver(AUDIENCE), metadata: { name: "ebs.csi.aws.com" } }],
      201,
      "",
    ],
    ["a driver that is not there", [INLINE], [], 403, `${MISSING}csidriver.storage.k8s.io "csi.test" not found`],
    [
      "a driver that is not there, RBAC or not",
      [INLINE],
      RBAC,
      403,
      `${MISSING}csidriver.storage.k8s.io "csi.test" not found`,
    ],
    ["a broken volume beside one that matches", [INLINE, projected(AUDIENCE)], [], 201, ""],
    ["a claim without its volume", [CLAIMED], [claim("c")], 403, `${MISSING}persistentvolume "pv" not found`],
  ])("the Pod asks for the audience in %s: %#", async (_what, volumes, objects, status, message) => {
    await using cluster = await startCluster({ objects: [pod("app", { volumes }), ...objects] });
    const answer = await ask(cluster, { boundObjectRef: boundTo("app", await cluster.uidOf(`${PODS}/app`)) });
    expect(answer.body.message ?? "").toBe(message);
    expect(answer.status).toBe(status);
  });

  test("without an audience: fine where the token is mounted anyway, else the empty audience must be granted", async () => {
    const bare = pod("bare", { automountServiceAccountToken: false });
    await using cluster = await startCluster({ objects: [pod("app"), bare] });
    const mounted = await ask(cluster, {
      audiences: [],
      boundObjectRef: boundTo("app", await cluster.uidOf(`${PODS}/app`)),
    });
    expect([mounted.status, mounted.body.spec?.audiences]).toEqual([201, [ISSUER]]);
    const refused = await ask(cluster, {
      audiences: [],
      boundObjectRef: boundTo("bare", await cluster.uidOf(`${PODS}/bare`)),
    });
    expect(refused.body.message).toMatch(
      /^serviceaccounts "puller" is forbidden: audience "" not found in pod spec volume/,
    );
    await cluster.admin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", audienceRole("r", [], ""));
    await cluster.admin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", bindingTo("r", NODES_GROUP));
    expect(
      (await ask(cluster, { audiences: [], boundObjectRef: boundTo("bare", await cluster.uidOf(`${PODS}/bare`)) }))
        .status,
    ).toBe(201);
  });

  test("a node creates mirror Pods on itself only, and its own Node", async () => {
    await using cluster = await startCluster({ nodes: ["node-1"] });
    const mirror = (nodeName: string) => ({
      metadata: { name: "m", annotations: { "kubernetes.io/config.mirror": "x" } },
      spec: { nodeName, containers: [{ name: "c", image: "i" }] },
    });
    expect((await cluster.node("node-1", "POST", PODS, pod("app"))).body.message).toMatch(
      /node "node-1" can only create mirror pods$/,
    );
    expect((await cluster.node("node-1", "POST", PODS, mirror("node-2"))).body.message).toMatch(
      /can only create pods with spec.nodeName set to itself$/,
    );
    expect((await cluster.node("node-1", "POST", PODS, mirror("node-1"))).status).toBe(201);
    await cluster.admin("DELETE", "/api/v1/nodes/node-1");
    expect(
      (await cluster.node("node-1", "POST", "/api/v1/nodes", { metadata: { name: "node-2" } })).body.message,
    ).toMatch(/node "node-1" is not allowed to modify node "node-2"$/);
    expect((await cluster.node("node-1", "POST", "/api/v1/nodes", { metadata: { name: "node-1" } })).status).toBe(201);
  });

  test("the same request by the administrator is not restricted", async () => {
    await using cluster = await startCluster({ objects: [pod("app")] });
    expect((await cluster.admin("POST", TOKEN, tokenRequest({ audiences: ["a", "b"] }))).status).toBe(201);
  });
});
