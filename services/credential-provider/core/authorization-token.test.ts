import { describe, expect, it } from "vitest";
import type { AuthorizationData } from "../types.ts";
import { createResponse, decideCacheDuration } from "./authorization-token.ts";

const NOW = new Date("2030-01-01T00:00:00.900Z");
const token = (plain: string) => Buffer.from(plain).toString("base64");
const inSeconds = (seconds: number) => new Date(Date.parse("2030-01-01T00:00:00Z") + seconds * 1000);

describe("how long the kubelet may keep the credentials", () => {
  it.each<[string, Date | undefined, number | undefined]>([
    ["twelve hours give six", inSeconds(43_200), 21_600],
    ["an odd number of seconds is cut", inSeconds(125), 62],
    ["fractions of a second do not count", inSeconds(4.99), 2],
    ["two seconds give one", inSeconds(2), 1],
    ["less than two seconds: no field", inSeconds(1), undefined],
    ["expired: no field", inSeconds(-100), undefined],
    ["no expiry: not at all", undefined, 0],
  ])("%s", (_, expiresAt, expected) => {
    expect(decideCacheDuration(expiresAt, NOW)).toBe(expected);
  });
});

describe("what ECR's token holds", () => {
  it.each([
    ["user and password", token("AWS:password"), "AWS", "password"],
    ["only the first colon parts", token("AWS:a:b"), "AWS", "a:b"],
    ["an empty password", token("AWS:"), "AWS", ""],
    ["line breaks are skipped", "QVdT\nOnB3MQ==", "AWS", "pw1"],
  ])("%s", (_, authorizationToken, username, password) => {
    const response = createResponse("host", { authorizationToken }, NOW);
    expect(response).toEqual({ host: "host", username, password, cacheDurationSeconds: 0 });
  });

  it.each<[string, AuthorizationData | undefined, string]>([
    ["no data", undefined, "authorization data was empty"],
    ["no token", {}, "authorization token in response was nil"],
    [
      "no colon",
      { authorizationToken: token("nocolon") },
      "error parsing username and password from authorization token",
    ],
    ["an empty token", { authorizationToken: "" }, "error parsing username and password from authorization token"],
    ["not base64", { authorizationToken: "!!!" }, "illegal base64 data at input byte 0"],
    ["base64 without padding", { authorizationToken: "QVdTOnB3MQ" }, "illegal base64 data at input byte 8"],
  ])("%s is refused", (_, data, message) => {
    expect(() => createResponse("host", data, NOW)).toThrow(message);
  });
});
