import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import type { RequestHandler } from "express";
import { afterAll, describe, expect, it, vi } from "vitest";
import { systemClock } from "./clock.ts";
import { type EdgeRequest, startEdge } from "./edge.ts";
import { systemRandom } from "./random.ts";
import { createCertificateAuthority } from "./tls.ts";

const directory = mkdtempSync(join(tmpdir(), "pullproof-edge-"));
afterAll(() => rmSync(directory, { recursive: true }));

const certificates = createCertificateAuthority({
  directory,
  systemClock,
  random: systemRandom,
  isServed: (name) => name.endsWith(".dkr.ecr.us-west-2.amazonaws.com"),
});

const echo: RequestHandler = (request, response) => {
  const hash = createHash("sha256");
  request.on("data", (chunk: Buffer) => hash.update(chunk));
  request.on("end", () => response.end(hash.digest("hex")));
};

const refuser: RequestHandler = (_request, response) => void response.writeHead(401).end();
const passer: RequestHandler = (_request, _response, next) => next();
const thrower: RequestHandler = () => {
  throw new Error(`no good: Bearer ${"s".repeat(40)}`);
};
const route = ({ host, path }: EdgeRequest) => {
  if (path === "/pass") return passer;
  if (path === "/throw") return thrower;
  if (host === "sts.test" || path.startsWith("/v2/")) return echo;
  return path === "/refuse" ? refuser : undefined;
};

const start = () => startEdge({ address: "127.0.0.1", port: 0, route, certificates });
const EMPTY = createHash("sha256").digest("hex");

function ask(
  client: typeof http | typeof https,
  options: https.RequestOptions,
  body?: Buffer,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = client.request({ host: "127.0.0.1", agent: false, ...options }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject).end(body);
  });
}

describe("the edge", () => {
  it("speaks http and https on one port, and routes by host and by shape", async () => {
    const edge = await start();
    const { port } = edge;
    const ca = await certificates.caPem();
    const host = "111122223333.dkr.ecr.us-west-2.amazonaws.com";
    expect(await ask(http, { port, headers: { host: "sts.test:80" } })).toEqual({ status: 200, text: EMPTY });
    expect(await ask(https, { port, ca, servername: host, path: "/v2/", headers: { host } })).toEqual({
      status: 200,
      text: EMPTY,
    });
    expect(await ask(https, { port, ca, path: "/v2/", servername: "" })).toMatchObject({ status: 200 });
    expect(await ask(http, { port, path: "/other" })).toMatchObject({ status: 421 });
    await edge.close();
  });

  it("listens on further ports, or on none if one of them is taken", async () => {
    const edge = await startEdge({ address: "127.0.0.1", port: 0, morePorts: [0], route, certificates });
    expect((await ask(http, { port: edge.port, path: "/v2/" })).status).toBe(200);
    const taken = startEdge({ address: "127.0.0.1", port: 0, morePorts: [edge.port], route, certificates });
    await expect(taken).rejects.toMatchObject({ message: expect.stringContaining("EADDRINUSE") });
    await edge.close();
  });

  it("has no certificate for a foreign name", async () => {
    const edge = await start();
    const ca = await certificates.caPem();
    await expect(ask(https, { port: edge.port, ca, servername: "example.com", path: "/v2/" })).rejects.toThrow();
    await edge.close();
  });

  it("prefers the shorter key, and still takes the longer one", async () => {
    const edge = await start();
    const ca = await certificates.caPem();
    const { port } = edge;
    const negotiate = (options: tls.ConnectionOptions) =>
      new Promise<string>((resolve, reject) => {
        const socket = tls.connect({ host: "127.0.0.1", port, ca, servername: "localhost", ...options }, () => {
          resolve(socket.getCipher().name);
          socket.destroy();
        });
        socket.once("error", reject);
      });
    expect(await negotiate({})).toBe("TLS_AES_128_GCM_SHA256");
    expect(await negotiate({ ciphers: "TLS_AES_256_GCM_SHA384" })).toBe("TLS_AES_256_GCM_SHA384");
    expect(await negotiate({ maxVersion: "TLSv1.2" })).toMatch(/^ECDHE-/);
    await edge.close();
  });

  it("passes a large body through both protocols unchanged", async () => {
    const edge = await start();
    const body = systemRandom.bytes(3_000_000);
    const expected = { status: 200, text: createHash("sha256").update(body).digest("hex") };
    const request = { port: edge.port, path: "/v2/", method: "PUT" };
    expect(await ask(http, request, body)).toEqual(expected);
    expect(await ask(https, { ...request, ca: await certificates.caPem() }, body)).toEqual(expected);
    await edge.close();
  });

  it("tells a client to go on only when somebody reads its body", async () => {
    const edge = await start();
    const expectContinue = (path: string) =>
      new Promise<string>((resolve) => {
        const request = http.request({
          host: "127.0.0.1",
          port: edge.port,
          path,
          method: "PUT",
          headers: { expect: "100-continue" },
        });
        request.on("continue", () => {
          resolve("continue");
          request.destroy();
        });
        request.on("response", (response) => {
          resolve(String(response.statusCode));
          request.destroy();
        });
        request.on("error", () => {});
        request.flushHeaders();
      });
    expect(await expectContinue("/refuse")).toBe("401");
    expect(await expectContinue("/v2/x")).toBe("continue");
    await edge.close();
  });

  it("takes absolute targets as if they had come in origin form, with the target's host", async () => {
    const edge = await start();
    const statusOf = async (path: string) => (await ask(http, { port: edge.port, path })).status;
    expect(await statusOf("http://sts.test:80/any")).toBe(200);
    expect(await statusOf("HTTPS://sts.test?Action=x")).toBe(200);
    expect(await statusOf("http://other.test/any")).toBe(421);
    expect(await statusOf("http://other.test/v2/")).toBe(200);
    expect(await statusOf("http://user@sts.test/any")).toBe(421);
    await edge.close();
  });

  it("refuses two hosts in one request", async () => {
    const edge = await start();
    const statusOf = async (hosts: string) => {
      const socket = net.connect(edge.port, "127.0.0.1");
      socket.end(`GET /v2/ HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      return (await socket.setEncoding("utf8").toArray()).join("").slice(9, 12);
    };
    expect(await statusOf("Host: sts.test\r\n")).toBe("200");
    expect(await statusOf("Host: sts.test\r\nHost: sts.test\r\n")).toBe("400");
    await edge.close();
  });

  it("answers in its own words what no room answers, and keeps failures to itself", async () => {
    const edge = await start();
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const missing = await ask(http, { port: edge.port, path: "/pass" });
    expect([missing.status, JSON.parse(missing.text).error]).toEqual([404, "not found"]);
    const failed = await ask(http, { port: edge.port, path: "/throw" });
    expect(failed).toEqual({ status: 500, text: '{"error":"internal error"}' });
    expect(logged).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^Error: no good: Bearer <sha256:/));
    logged.mockRestore();
    await edge.close();
  });

  it("names cause and cure when the port is taken, and closes with idle clients attached", async () => {
    const edge = await start();
    const idle = net.connect(edge.port, "127.0.0.1");
    await new Promise((resolve) => idle.once("connect", resolve));
    const taken = startEdge({ address: "127.0.0.1", port: edge.port, route, certificates });
    await expect(taken).rejects.toMatchObject({
      message: expect.stringContaining("EADDRINUSE"),
      hint: expect.stringContaining("--port"),
    });
    await edge.close();
    idle.destroy();
  });
});

describe("certificates", () => {
  it("are strict X.509: OpenSSL accepts the chain, and the key stays private", async () => {
    const { cert } = await certificates.certificateFor("111122223333.dkr.ecr.us-west-2.amazonaws.com");
    writeFileSync(join(directory, "leaf.pem"), cert.slice(0, cert.indexOf("-----END") + 26));
    const verify = (name: string) =>
      execFileSync(
        "openssl",
        [
          "verify",
          "-x509_strict",
          "-CAfile",
          join(directory, "ca.pem"),
          "-verify_hostname",
          name,
          join(directory, "leaf.pem"),
        ],
        {
          stdio: ["ignore", "pipe", "ignore"],
        },
      ).toString();
    expect(verify("444455556666.dkr.ecr.us-west-2.amazonaws.com")).toContain("OK");
    expect(() => verify("444455556666.dkr.ecr.us-east-1.amazonaws.com")).toThrow();
    expect(statSync(join(directory, "ca.key")).mode & 0o777).toBe(0o600);
  });

  it("come from the CA of the last start while that is good", async () => {
    const own = mkdtempSync(join(directory, "renew-"));
    const create = (clock = systemClock) =>
      createCertificateAuthority({ directory: own, systemClock: clock, random: systemRandom, isServed: () => true });
    const first = await create().caPem();
    expect(await create().caPem()).toBe(first);
    const later = { now: () => new Date(systemClock.now().getTime() + 800 * 86_400_000) };
    expect(await create(later).caPem()).not.toBe(first);
  });
});
