import { describe, expect, it } from "vitest";
import type { ImageHost } from "../types.ts";
import { parseImageHost } from "./image-host.ts";

function isPrivate(host: string, region: string): ImageHost {
  return { host, kind: "private", region };
}
function isOther(host: string): ImageHost {
  return { host, kind: "other", region: undefined };
}

describe("the host of an image", () => {
  it.each<[string, ImageHost]>([
    [
      "123456789012.dkr.ecr.us-west-2.amazonaws.com/a/b",
      isPrivate("123456789012.dkr.ecr.us-west-2.amazonaws.com", "us-west-2"),
    ],
    [
      "123456789012.dkr.ecr-fips.lala-land-1.amazonaws.com/a",
      isPrivate("123456789012.dkr.ecr-fips.lala-land-1.amazonaws.com", "lala-land-1"),
    ],
    [
      "123456789012.dkr-ecr-fips.us-west-2.on.aws/a",
      isPrivate("123456789012.dkr-ecr-fips.us-west-2.on.aws", "us-west-2"),
    ],
    [
      "123456789012.dkr.ecr.us-isob-east-1.sc2s.sgov.gov/a",
      isPrivate("123456789012.dkr.ecr.us-isob-east-1.sc2s.sgov.gov", "us-isob-east-1"),
    ],
    [
      "123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu/a",
      isPrivate("123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1"),
    ],
    [
      "123456789012.dkr.ecr.us-west-2.amazonaws.com:443/public.ecr.aws/b",
      isPrivate("123456789012.dkr.ecr.us-west-2.amazonaws.com", "us-west-2"),
    ],
    ["12345678901.dkr.ecr.us-west-2.amazonaws.com/a", isOther("12345678901.dkr.ecr.us-west-2.amazonaws.com")],
    ["1234567890123.dkr.ecr.us-west-2.amazonaws.com/a", isOther("1234567890123.dkr.ecr.us-west-2.amazonaws.com")],
    [
      "123456789012.dkr.ecr.us-west-2.amazonaws.hacker.com/a",
      isOther("123456789012.dkr.ecr.us-west-2.amazonaws.hacker.com"),
    ],
    ["123456789012.dkr.ecr.us-west-2.amazonaws.lol/a", isOther("123456789012.dkr.ecr.us-west-2.amazonaws.lol")],
    ["123456789012.dkr.ecr.us!west.amazonaws.com/a", isOther("123456789012.dkr.ecr.us!west.amazonaws.com")],
    ["public.ecr.aws/x/y", { host: "public.ecr.aws", kind: "public", region: undefined }],
    ["ecr-public.aws.com/x/y", { host: "ecr-public.aws.com", kind: "public", region: undefined }],
    ["localhost:5001/x", isOther("localhost")],
    ["Foo.BAR/x", isOther("Foo.BAR")],
    ["user@host/x", isOther("host")],
    ["http://host/x", isOther("host")],
    ["[::1]:80/x", isOther("::1")],
    ["x?y", isOther("x")],
    ["a:b://x", isOther("")],
    ["ü/x", isOther("ü")],
  ])("of %s", (image, expected) => {
    expect(parseImageHost(image)).toEqual(expected);
  });
});

describe("an image name that is no URL is refused in the words of Go", () => {
  it.each([
    [
      "1http://x",
      'error parsing image reference 1http://x: parse "1http://x": first path segment in URL cannot contain colon',
    ],
    ["://x", 'error parsing image reference ://x: parse "://x": missing protocol scheme'],
    [
      "h:80:80/x",
      'error parsing image reference https://h:80:80/x: parse "https://h:80:80/x": invalid port ":80:80" after host',
    ],
    [
      "h:abc/x",
      'error parsing image reference https://h:abc/x: parse "https://h:abc/x": invalid port ":abc" after host',
    ],
    [
      "h\u0001/x",
      'error parsing image reference https://h\u0001/x: parse "https://h\\x01/x": net/url: invalid control character in URL',
    ],
    ["h/%zz", 'error parsing image reference https://h/%zz: parse "https://h/%zz": invalid URL escape "%zz"'],
    ["%zz/x", 'error parsing image reference https://%zz/x: parse "https://%zz/x": invalid URL escape "%zz"'],
    ["%41.x/y", 'error parsing image reference https://%41.x/y: parse "https://%41.x/y": invalid URL escape "%41"'],
    ["u^@h/x", 'error parsing image reference https://u^@h/x: parse "https://u^@h/x": net/url: invalid userinfo'],
    [
      "a\\b/x",
      'error parsing image reference https://a\\b/x: parse "https://a\\\\b/x": invalid character "\\\\" in host name',
    ],
    ["a b/c", 'error parsing image reference https://a b/c: parse "https://a b/c": invalid character " " in host name'],
    ["[::1/x", `error parsing image reference https://[::1/x: parse "https://[::1/x": missing ']' in host`],
    ["x#y%zz", 'error parsing image reference https://x#y%zz: parse "https://x#y%zz": invalid URL escape "%zz"'],
  ])("%j", (image, message) => {
    expect(() => parseImageHost(image)).toThrow(message);
  });
});
