// Enough of the registry's protocol to put the same content into ours and its peers, and to be let in.
import http from "node:http";
import { signRequest } from "../services/shared/aws/sigv4-sign.ts";

/** The registry of the default world's first account, and its user who may push and pull everything there. */
export const ECR_HOST = "111122223333.dkr.ecr.us-west-2.amazonaws.com";
const USER = { accessKeyId: "AKIABTX3GSDS2UISEM2E", secretAccessKey: "pullproofExampleSecretKeyOfAccount111122" };
const ECR_API = "api.ecr.us-west-2.amazonaws.com";

/** Where a registry is, and what requests to it carry (`host`, `authorization`). */
export interface Place {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Status that is expected. */
  readonly expect: number;
}

/** One request over plain http. @throws Error for another status than the expected one */
export function send(place: Place, question: Question): Promise<Answer> {
  const { method, path, body, expect } = question;
  const headers = { ...place.headers, ...question.headers, "content-length": Buffer.byteLength(body ?? "") };
  return new Promise((resolve, reject) => {
    const request = http.request(new URL(path, place.url), { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const answer = { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
        if (answer.status === expect) resolve(answer);
        else reject(new Error(`${method} ${path}: expected ${expect}, found ${answer.status} ${answer.body}`));
      });
    });
    request.once("error", reject);
    request.end(body);
  });
}

/** Our registry with a fresh password from GetAuthorizationToken. */
export async function logIn(url: string): Promise<Place> {
  const headers = {
    host: ECR_API,
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken",
  };
  const unsigned = { method: "POST", rawPath: "/", headers, body: "{}" };
  const signed = signRequest(unsigned, { key: USER, service: "ecr", region: "us-west-2", now: new Date() });
  const { body } = await send(
    { url, headers: {} },
    { method: "POST", path: "/", headers: signed, body: "{}", expect: 200 },
  );
  const { authorizationData } = JSON.parse(body.toString()) as { authorizationData: { authorizationToken: string }[] };
  return { url, headers: { host: ECR_HOST, authorization: `Basic ${authorizationData[0]?.authorizationToken}` } };
}

/** Copies an image (no index) from one registry to another, byte for byte. */
export async function copyImage(from: Place, to: Place, image: { repository: string; tag: string }): Promise<void> {
  const { repository, tag } = image;
  const path = `/v2/${repository}/manifests/${tag}`;
  const manifest = await send(from, { method: "GET", path, expect: 200 });
  const { config, layers } = JSON.parse(manifest.body.toString()) as {
    config: { digest: string };
    layers: { digest: string }[];
  };
  for (const { digest } of [config, ...layers]) {
    const blob = await send(from, { method: "GET", path: `/v2/${repository}/blobs/${digest}`, expect: 200 });
    await pushBlob(to, repository, { digest, bytes: blob.body });
  }
  const headers = { "content-type": manifest.headers["content-type"] ?? "" };
  await send(to, { method: "PUT", path, headers, body: manifest.body, expect: 201 });
}

async function pushBlob(to: Place, repository: string, blob: { digest: string; bytes: Buffer }): Promise<void> {
  const opened = await send(to, { method: "POST", path: `/v2/${repository}/blobs/uploads/`, expect: 202 });
  const location = new URL(opened.headers.location ?? "", to.url);
  location.searchParams.set("digest", blob.digest);
  const path = location.pathname + location.search;
  await send(to, { method: "PUT", path, body: blob.bytes, expect: 201 });
}
