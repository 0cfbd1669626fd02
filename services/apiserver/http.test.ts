import { describe, expect, test } from "vitest";
import { createIssuer } from "../oidc/index.ts";
import { systemClock } from "../shared/clock.ts";
import { createSeededRandom } from "../shared/random.ts";
import { ACCOUNT, bindingTo, ISSUER, PODS, pod, startCluster, tokenRequest } from "./testdata/cluster.ts";

const SECRETS = "/api/v1/namespaces/team-a/secrets";
const ACCOUNTS = "/api/v1/namespaces/team-a/serviceaccounts";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ANONYMOUS = { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:unauthenticated" };

describe("objects", () => {
  test("a Secret is created, read, listed, replaced and deleted; its identity stays over a replacement", async () => {
    await using cluster = await startCluster();
    const created = await cluster.admin("POST", SECRETS, {
      metadata: { name: "s", annotations: { a: "b" } },
      stringData: { k: "v" },
    });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "s",
        namespace: "team-a",
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        resourceVersion: expect.stringMatching(/^\d+$/),
        creationTimestamp: "2026-09-21T14:13:20Z",
        annotations: { a: "b" },
      },
      data: { k: "dg==" },
      type: "Opaque",
    });
    expect((await cluster.admin("GET", `${SECRETS}/s`)).body).toEqual(created.body);
    const list = (await cluster.admin("GET", SECRETS)).body;
    expect([list.kind, list.apiVersion, list.items.length, "kind" in list.items[0]]).toEqual([
      "SecretList",
      "v1",
      1,
      false,
    ]);
    cluster.clock.advance(60);
    const replaced = await cluster.admin("PUT", `${SECRETS}/s`, { metadata: { name: "s" }, stringData: { k: "w" } });
    expect(replaced.body.metadata).toEqual({
      ...created.body.metadata,
      annotations: undefined,
      resourceVersion: replaced.body.metadata.resourceVersion,
    });
    expect(replaced.body.data).toEqual({ k: "dw==" });
    const deleted = await cluster.admin("DELETE", `${SECRETS}/s`);
    expect(deleted.body).toMatchObject({
      kind: "Status",
      status: "Success",
      details: { name: "s", kind: "secrets", uid: created.body.metadata.uid },
    });
    expect((await cluster.admin("GET", `${SECRETS}/s`)).body.message).toBe('secrets "s" not found');
  });

  test.each([
    ["its own version", "own", undefined, 200],
    ["an old version", "1", undefined, 409],
    ["its own uid", undefined, "own", 200],
    ["another uid", undefined, "u", 409],
  ])("a replacement that names %s: %#", async (_what, version, uid, status) => {
    await using cluster = await startCluster();
    const { metadata } = (await cluster.admin("GET", ACCOUNT)).body;
    const named = {
      name: "puller",
      ...(version ? { resourceVersion: version === "own" ? metadata.resourceVersion : version } : {}),
      ...(uid ? { uid: uid === "own" ? metadata.uid : uid } : {}),
    };
    expect((await cluster.admin("PUT", ACCOUNT, { metadata: named })).status).toBe(status);
  });

  test("a deletion on condition of a uid hits that object only", async () => {
    await using cluster = await startCluster();
    const uid = await cluster.uidOf(ACCOUNT);
    const refused = await cluster.admin("DELETE", ACCOUNT, { preconditions: { uid: "u" } });
    expect([refused.status, refused.body.reason]).toEqual([409, "Conflict"]);
    expect((await cluster.admin("DELETE", ACCOUNT, { preconditions: { uid } })).status).toBe(200);
  });

  test("a binding's role cannot be replaced, its subjects can", async () => {
    await using cluster = await startCluster({ objects: [bindingTo("cluster-admin", ANONYMOUS)] });
    const path = `${RBAC}/clusterrolebindings/cluster-admin-binding`;
    const changed = await cluster.admin("PUT", path, { ...bindingTo("cluster-admin", ANONYMOUS), subjects: [] });
    expect(changed.status).toBe(200);
    const roleRef = { ...bindingTo("x", ANONYMOUS).roleRef };
    const refused = await cluster.admin("PUT", path, { ...bindingTo("cluster-admin", ANONYMOUS), roleRef });
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringMatching(/cannot change roleRef$/)]);
  });

  test.each([
    ["twice", ACCOUNTS, { metadata: { name: "puller" } }, 409, 'serviceaccounts "puller" already exists'],
    [
      "in another namespace than the URL's",
      ACCOUNTS,
      { metadata: { name: "x", namespace: "team-b" } },
      400,
      /does not match the namespace/,
    ],
    [
      "in a namespace that is not there",
      "/api/v1/namespaces/nope/serviceaccounts",
      { metadata: { name: "x" } },
      404,
      'namespaces "nope" not found',
    ],
    [
      "of another kind",
      ACCOUNTS,
      { apiVersion: "v1", kind: "Secret", metadata: { name: "x" } },
      400,
      /Secret in version "v1" cannot be handled as a ServiceAccount/,
    ],
    [
      "of another version",
      ACCOUNTS,
      { apiVersion: "v2", metadata: { name: "x" } },
      400,
      /\(v2\) does not match the expected API version \(v1\)/,
    ],
    [
      "without a name",
      ACCOUNTS,
      {},
      422,
      'ServiceAccount "" is invalid: metadata.name: Required value: name or generateName is required',
    ],
    [
      "with an annotation that is no text",
      ACCOUNTS,
      { metadata: { name: "x", annotations: { a: true } } },
      400,
      /metadata\.annotations\.a of type string/,
    ],
    ["with metadata that are no object", ACCOUNTS, { metadata: [] }, 400, /of type v1\.ObjectMeta/],
    [
      "with two mistakes",
      PODS,
      { metadata: { name: "x" }, spec: { containers: [{}] } },
      422,
      'Pod "x" is invalid: [spec.containers[0].name: Required value, spec.containers[0].image: Required value]',
    ],
    ["with a name that is made up", ACCOUNTS, { metadata: { generateName: "x-" } }, 201, ""],
    ["with an unknown member, as the real server takes it", ACCOUNTS, { metadata: { name: "x" }, foo: 1 }, 201, ""],
  ])("an object is created %s", async (_what, path, body, status, message) => {
    await using cluster = await startCluster();
    const answer = await cluster.admin("POST", path, body);
    expect(answer.body.message ?? "").toMatch(message);
    expect(answer.status).toBe(status);
    if (status !== 201) expect(answer.body).toMatchObject({ kind: "Status", status: "Failure", code: status });
  });

  test("a new Namespace has an account `default`; a deleted one takes everything with it", async () => {
    await using cluster = await startCluster();
    await cluster.admin("POST", "/api/v1/namespaces", { metadata: { name: "new" } });
    const path = "/api/v1/namespaces/new/serviceaccounts/default";
    expect((await cluster.admin("GET", path)).status).toBe(200);
    await cluster.admin("DELETE", "/api/v1/namespaces/new");
    expect((await cluster.admin("GET", path)).status).toBe(404);
  });

  test("a Pod gets its account, the account's pull secrets, a token volume and pull policies", async () => {
    const account = {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace: "team-b" },
      imagePullSecrets: [{ name: "s" }],
    };
    await using cluster = await startCluster({ objects: [account] });
    const containers = [
      { name: "a", image: "x:1" },
      { name: "b", image: "x", imagePullPolicy: "Never" },
    ];
    const volumes = [{ name: "i", image: { reference: "y" } }];
    const created = await cluster.admin("POST", "/api/v1/namespaces/team-b/pods", {
      metadata: { name: "p" },
      spec: { containers, volumes },
    });
    const { spec } = created.body;
    expect(spec).toMatchObject({
      serviceAccountName: "default",
      serviceAccount: "default",
      imagePullSecrets: [{ name: "s" }],
      restartPolicy: "Always",
      containers: [{ imagePullPolicy: "IfNotPresent" }, { imagePullPolicy: "Never" }],
    });
    expect(spec.volumes[0].image).toEqual({ reference: "y", pullPolicy: "Always" });
    expect(spec.volumes[1].name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(spec.containers[0].volumeMounts[0].name).toBe(spec.volumes[1].name);
    const own = { containers, imagePullSecrets: [{ name: "t" }], automountServiceAccountToken: false };
    const second = await cluster.admin("POST", "/api/v1/namespaces/team-b/pods", {
      metadata: { name: "q" },
      spec: own,
    });
    expect(second.body.spec.imagePullSecrets).toEqual([{ name: "t" }]);
    expect(second.body.spec.volumes).toBeUndefined();
  });

  test.each([
    ["puller", 201],
    ["absent", 403],
  ])("a Pod that runs as %s: %i", async (serviceAccountName, status) => {
    await using cluster = await startCluster();
    const answer = await cluster.admin("POST", PODS, pod("p", { serviceAccountName }));
    expect(answer.status).toBe(status);
    if (status === 403) {
      expect(answer.body.message).toBe(
        'pods "p" is forbidden: error looking up service account team-a/absent: serviceaccount "absent" not found',
      );
      expect(cluster.events.events.at(-1)?.reason).toBe("service-account-not-found");
    }
  });

  test("lists are narrowed by fields and by namespace; what is not supported is refused, not ignored", async () => {
    await using cluster = await startCluster({ objects: [pod("a"), pod("b", { nodeName: "node-2" })] });
    const names = async (path: string) =>
      (await cluster.admin("GET", path)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    expect(await names(PODS)).toEqual(["a", "b"]);
    expect(await names("/api/v1/pods?fieldSelector=spec.nodeName=node-2")).toEqual(["b"]);
    expect(await names(`${PODS}?fieldSelector=metadata.name=a,spec.nodeName=node-2`)).toEqual([]);
    expect(await names("/api/v1/namespaces/team-b/pods")).toEqual([]);
    expect((await cluster.admin("GET", `${PODS}?fieldSelector=status.phase=Running`)).body.message).toBe(
      "field label not supported: status.phase",
    );
    expect((await cluster.admin("GET", `${PODS}?labelSelector=a=b`)).status).toBe(400);
  });

  test("reset brings the seed back with the same uids, and forgets what came later", async () => {
    await using cluster = await startCluster({ objects: [pod("app")] });
    const uid = await cluster.uidOf(ACCOUNT);
    await cluster.admin("DELETE", ACCOUNT);
    await cluster.admin("POST", ACCOUNTS, { metadata: { name: "later" } });
    const token = cluster.apiServer.addNode("node-9");
    expect((await cluster.send(token, "GET", "/api/v1/nodes/node-9")).status).toBe(200);
    cluster.apiServer.reset();
    expect(await cluster.uidOf(ACCOUNT)).toBe(uid);
    expect((await cluster.admin("GET", `${ACCOUNTS}/later`)).status).toBe(404);
    expect((await cluster.send(token, "GET", "/api/v1/nodes/node-9")).status).toBe(401);
    expect(() => cluster.apiServer.nodeToken("node-9")).toThrow("no node node-9 in this cluster");
    expect((await cluster.node("node-1", "GET", ACCOUNT)).status).toBe(200);
  });

  test("mistakes in the world's objects stop the start, all at once", async () => {
    await expect(startCluster({ objects: [{ kind: "x" }, pod("p", {}, "nope")] })).rejects.toThrow(
      /object 4 kind: .*\nobject 5 metadata\.namespace/,
    );
  });
});

describe("who may", () => {
  test.each([
    ["no token", undefined, 403],
    ["the administrator's", "admin-token", 200],
    ["a wrong one", "admin-tokem", 401],
  ])("with %s", async (_what, token, status) => {
    await using cluster = await startCluster();
    const answer = await cluster.send(token, "GET", ACCOUNT);
    expect(answer.status).toBe(status);
    if (status === 403) {
      expect(answer.body.message).toBe(
        'serviceaccounts "puller" is forbidden: User "system:anonymous" cannot get resource "serviceaccounts" in API group "" in the namespace "team-a"',
      );
      expect(cluster.events.events.at(-1)).toMatchObject({
        principal: "system:anonymous",
        decision: "deny",
        reason: "no-rbac-rule",
      });
    }
  });

  test.each(["Basic YTpi", "Bearer", "Bearer a b", "admin-token"])(
    "the header %j proves nothing",
    async (authorization) => {
      await using cluster = await startCluster();
      expect((await fetch(cluster.url + ACCOUNT, { headers: { authorization } })).status).toBe(401);
    },
  );

  test("RBAC decides for ServiceAccounts, at once when it changes", async () => {
    await using cluster = await startCluster();
    const { token } = (await cluster.admin("POST", `${ACCOUNT}/token`, tokenRequest({ audiences: [ISSUER] }))).body
      .status;
    const ask = async (path: string) => (await cluster.send(token, "GET", path)).status;
    expect(await ask(PODS)).toBe(403);
    const apiVersion = "rbac.authorization.k8s.io/v1";
    const rules = [{ apiGroups: [""], verbs: ["list"], resources: ["pods"] }];
    await cluster.admin("POST", `${RBAC}/namespaces/team-a/roles`, {
      apiVersion,
      kind: "Role",
      metadata: { name: "r" },
      rules,
    });
    const subjects = [{ kind: "ServiceAccount", name: "puller", namespace: "team-a" }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" };
    await cluster.admin("POST", `${RBAC}/namespaces/team-a/rolebindings`, {
      metadata: { name: "b" },
      roleRef,
      subjects,
    });
    expect(await ask(PODS)).toBe(200);
    expect(cluster.events.events.at(-1)?.decidedBy).toBe('RoleBinding team-a/b → role.rbac.authorization.k8s.io "r"');
    expect(await ask("/api/v1/namespaces/team-b/pods")).toBe(403);
    await cluster.admin("DELETE", `${RBAC}/namespaces/team-a/roles/r`);
    const gone = await cluster.send(token, "GET", PODS);
    expect(gone.body.message).toMatch(/: RBAC: role\.rbac\.authorization\.k8s\.io "r" not found$/);
  });

  test.each(["/.well-known/openid-configuration", "/openid/v1/jwks"])(
    "%s is for ServiceAccounts, until an administrator opens it",
    async (path) => {
      await using cluster = await startCluster();
      const { token } = (await cluster.admin("POST", `${ACCOUNT}/token`, tokenRequest({ audiences: [ISSUER] }))).body
        .status;
      expect((await cluster.send(token, "GET", path)).status).toBe(200);
      const refused = await cluster.send(undefined, "GET", path);
      expect([refused.status, refused.body.message]).toEqual([
        403,
        `forbidden: User "system:anonymous" cannot get path "${path}"`,
      ]);
      expect((await cluster.node("node-1", "GET", path)).status).toBe(403);
      expect((await cluster.send(token, "POST", path, {})).status).toBe(403);
      const binding = {
        ...bindingTo("system:service-account-issuer-discovery", ANONYMOUS),
        metadata: { name: "open" },
      };
      await cluster.admin("POST", `${RBAC}/clusterrolebindings`, binding);
      expect((await cluster.send(undefined, "GET", path)).status).toBe(200);
    },
  );

  test("discovery and key set are those of a real API server", async () => {
    await using cluster = await startCluster();
    const document = await cluster.admin("GET", "/.well-known/openid-configuration");
    expect(document.headers.get("content-type")).toBe("application/json");
    expect(document.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(document.body).toEqual({
      issuer: ISSUER,
      jwks_uri: "https://kubernetes.default.svc/openid/v1/jwks",
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    });
    await cluster.issuer.rotate({ keepOld: true });
    const keys = await cluster.admin("GET", "/openid/v1/jwks");
    expect(keys.headers.get("content-type")).toBe("application/jwk-set+json");
    expect(keys.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(keys.body.keys).toHaveLength(2);
  });

  test("an issuer without https is not published at all", async () => {
    const issuer = createIssuer({
      name: "plain",
      url: "http://oidc.test",
      alg: "ES256",
      clock: systemClock,
      random: createSeededRandom("plain"),
    });
    await using cluster = await startCluster({ issuer });
    for (const path of ["/.well-known/openid-configuration", "/openid/v1/jwks"]) {
      expect((await cluster.admin("GET", path)).status).toBe(404);
    }
  });

  test.each([
    ["/healthz", 200, 200],
    ["/version", 200, 200],
    ["/api", 200, 403],
    ["/api/v1", 200, 403],
    ["/apis", 200, 403],
    ["/apis/rbac.authorization.k8s.io/v1", 200, 403],
    ["/metrics", 404, 403],
  ])("GET %s: %i for the administrator, %i for nobody", async (path, admin, nobody) => {
    await using cluster = await startCluster();
    expect((await cluster.admin("GET", path)).status).toBe(admin);
    expect((await cluster.send(undefined, "GET", path)).status).toBe(nobody);
  });
});

describe("bad input", () => {
  test.each([
    ["GET", "/api/v1/namespaces/team-a/widgets", 404],
    ["GET", "/api/v2/namespaces/team-a/pods", 404],
    ["GET", "/apis/apps/v1/namespaces/team-a/deployments", 404],
    ["GET", "/apis/rbac.authorization.k8s.io/v1/pods", 404],
    ["GET", `${PODS}/app/log`, 404],
    ["GET", "/api/v1/namespaces/team-a/nodes", 404],
    ["GET", "/api/v1/namespaces/team-a/constructor", 404],
    ["GET", "/", 404],
    ["POST", "/api/v1/pods", 404],
    ["PUT", `${PODS}/app`, 405],
    ["PATCH", ACCOUNT, 405],
    ["DELETE", PODS, 405],
    ["PUT", ACCOUNTS, 405],
    ["POST", ACCOUNT, 405],
    ["GET", `${ACCOUNT}/token`, 405],
    ["POST", "/version", 405],
    ["GET", `${PODS}?watch=true`, 405],
    ["GET", "/api/v1/namespaces/team-a/pods/%zz", 400],
  ])("%s %s is answered with the Status %i", async (method, path, code) => {
    await using cluster = await startCluster();
    const answer = await cluster.admin(method, path, method === "GET" ? undefined : {});
    const reason = { 404: "NotFound", 405: "MethodNotAllowed", 400: "BadRequest" }[code];
    expect(answer.body).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason });
    expect(answer.status).toBe(code);
    expect(cluster.events.events.at(-1)).toMatchObject({ decision: "deny", status: code });
  });

  test.each([
    ["nothing", "", 400],
    ["no JSON", "{", 400],
    ["a list", "[]", 400],
    ["null", "null", 400],
    ["a text", '"x"', 400],
    ["an object", '{"metadata":{"name":"x"}}', 201],
    ["more than 3 MiB", `{"metadata":{"name":"x"},"a":"${"y".repeat(3 * 1024 * 1024)}"}`, 413],
    ["deep JSON", `{"metadata":{"name":"x"},"secrets":${"[".repeat(900)}${"]".repeat(900)}}`, 201],
    ["very deep JSON", `{"metadata":{"name":"x"},"secrets":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, 400],
  ])("a body of %s: %#", async (_what, body, code) => {
    await using cluster = await startCluster();
    const answer = await cluster.admin("POST", ACCOUNTS, body);
    expect(answer.status).toBe(code);
    if (code !== 201) expect(answer.body).toMatchObject({ kind: "Status", code });
    expect(JSON.stringify(answer.body)).not.toMatch(/\bat .*\.ts/);
  });

  test("a body in another format is refused by its media type", async () => {
    await using cluster = await startCluster();
    const headers = { authorization: "Bearer admin-token", "content-type": "application/vnd.kubernetes.protobuf" };
    const answer = await fetch(cluster.url + ACCOUNTS, { method: "POST", headers, body: "k8s" });
    expect([answer.status, ((await answer.json()) as { reason: string }).reason]).toEqual([
      415,
      "UnsupportedMediaType",
    ]);
  });
});
