import { describe, expect, test } from "vitest";
import { parseJsonCall, renderJsonAnswer, renderJsonError } from "./json.ts";

const PREFIX = "AmazonEC2ContainerRegistry_V20150921";
const target = `${PREFIX}.DescribeRepositories`;
const parse = (body: string | Buffer, at: string | undefined = target) =>
  parseJsonCall({ target: at, body: Buffer.from(body as string) }, PREFIX);

describe("a JSON call", () => {
  test.each([
    ["", {}],
    ["{}", {}],
    ['{"repositoryNames":["a"]}', { repositoryNames: ["a"] }],
  ])("is read from %j", (body, input) => {
    expect(parse(body)).toEqual({ operation: "DescribeRepositories", input });
  });

  test.each(["[]", "null", "3", '"x"', "{", "{}{}", Buffer.from([0x22, 0xff, 0x22])])("cannot be %j", (body) => {
    expect(() => parse(body)).toThrow(expect.objectContaining({ code: "SerializationException", status: 400 }));
  });

  test.each(["", PREFIX, `${PREFIX}.`, `${PREFIX}.a.b`, "SpencerFrontendService.GetAuthorizationToken", `x${target}`])(
    "has no operation in target %j",
    (at) => {
      expect(() => parse("{}", at)).toThrow(
        expect.objectContaining({ code: "UnknownOperationException", status: 400 }),
      );
    },
  );

  test("needs a target", () => {
    expect(() => parseJsonCall({ target: undefined, body: Buffer.alloc(0) }, PREFIX)).toThrow(/found none/);
  });
});

test("answers hold instants as epoch seconds, bytes as base64 and no undefined members", () => {
  const output = {
    at: new Date("2026-01-31T12:00:00.250Z"),
    bytes: Buffer.from("AWS:x"),
    list: [{ none: undefined, n: 1 }],
  };
  expect(renderJsonAnswer(output)).toBe('{"at":1769860800.25,"bytes":"QVdTOng=","list":[{"n":1}]}');
});

test("errors name their code as __type", () => {
  const error = { code: "RepositoryNotFoundException", message: 'no "x"' };
  expect(renderJsonError(error)).toBe('{"__type":"RepositoryNotFoundException","message":"no \\"x\\""}');
});
