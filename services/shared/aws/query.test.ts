import { XMLParser } from "fast-xml-parser";
import { describe, expect, test } from "vitest";
import { parseQueryCall, type QueryCall, renderQueryAnswer, renderQueryError } from "./query.ts";

const FORM = "application/x-www-form-urlencoded; charset=utf-8";
const NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";

function post(body: string | Buffer, rawPath = "/", contentType: string | undefined = FORM): QueryCall {
  return parseQueryCall({ rawPath, contentType, body: Buffer.from(body as string) });
}

describe("a Query call", () => {
  test("is read from a form, plus meaning a space", () => {
    const call = post("Action=GetCallerIdentity&Version=2011-06-15&RoleSessionName=a+b%2Bc&Empty=&Bare");
    expect(call).toMatchObject({ action: "GetCallerIdentity", version: "2011-06-15" });
    expect(["RoleSessionName", "Empty", "Bare", "Absent"].map(call.text)).toEqual(["a b+c", "", "", undefined]);
  });

  test("is the same from a query, a presigned one's own parameters left out", () => {
    const rawPath = "/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Signature=00&X-Amz-Date=1";
    const call = parseQueryCall({ rawPath, contentType: undefined, body: Buffer.alloc(0) });
    expect([...call.parameters.keys()]).toEqual(["Action", "Version"]);
  });

  test("lists its members by number, not by order of arrival", () => {
    const call = post(
      "Action=A&T.member.10=c&T.member.2=b&T.member.1=a&S.member.1.Key=k&S.member.1.Value=v&Tx.member.1=no",
    );
    expect(call.texts("T")).toEqual(["a", "b", "c"]);
    expect(call.structures("S")).toEqual([{ Key: "k", Value: "v" }]);
    expect(call.texts("Absent")).toEqual([]);
  });

  test("cannot smuggle a prototype", () => {
    const call = post("Action=A&__proto__=x&S.member.1.__proto__=y");
    expect(call.text("__proto__")).toBe("x");
    expect(Object.getPrototypeOf(call.structures("S")[0])).toBe(Object.prototype);
    expect(call.text("toString")).toBeUndefined();
  });

  test.each<[string, () => unknown, string]>([
    ["no action", () => post("Version=2011-06-15"), "MissingAction"],
    ["an empty body", () => post(""), "MissingAction"],
    ["an action given twice", () => post("Action=A&Action=A"), "MalformedInput"],
    ["a name in body and query", () => post("Action=A&RoleArn=a", "/?RoleArn=b"), "MalformedInput"],
    ["an encoded name given twice", () => post("Action=A&%52oleArn=a&RoleArn=b"), "MalformedInput"],
    ["broken percent-encoding", () => post("Action=A&X=%zz"), "MalformedInput"],
    ["percent-encoded bytes that are no UTF-8", () => post("Action=A&X=%ff"), "MalformedInput"],
    ["raw bytes that are no UTF-8", () => post(Buffer.from([0x41, 0x3d, 0xff])), "MalformedInput"],
    ["a body of another type", () => post("Action=A", "/", "application/json"), "MalformedInput"],
    [
      "a body without type",
      () => parseQueryCall({ rawPath: "/", contentType: undefined, body: Buffer.from("Action=A") }),
      "MalformedInput",
    ],
    ["member zero", () => post("Action=A&T.member.0=a").texts("T"), "MalformedInput"],
    ["a member without number", () => post("Action=A&T.member.x=a").texts("T"), "MalformedInput"],
    ["a structure where a value belongs", () => post("Action=A&T.member.1.Key=a").texts("T"), "MalformedInput"],
    ["a value where a structure belongs", () => post("Action=A&T.member.1=a").structures("T"), "MalformedInput"],
  ])("is refused for %s", (_, parse, code) => {
    expect(parse).toThrow(expect.objectContaining({ code, status: 400 }));
  });
});

describe("an answer", () => {
  test("has AWS's shape to the byte", () => {
    const result = {
      Arn: "a<&>b",
      Credentials: { Expiration: new Date("2026-01-31T12:00:00.999Z") },
      None: undefined,
      N: 6,
    };
    expect(renderQueryAnswer({ action: "AssumeRole", namespace: NAMESPACE, requestId: "r", result })).toBe(
      `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleResult>
    <Arn>a&lt;&amp;&gt;b</Arn>
    <Credentials>
      <Expiration>2026-01-31T12:00:00Z</Expiration>
    </Credentials>
    <N>6</N>
  </AssumeRoleResult>
  <ResponseMetadata>
    <RequestId>r</RequestId>
  </ResponseMetadata>
</AssumeRoleResponse>
`,
    );
  });

  test("renders lists as members, structures among them", () => {
    const result = { Tags: [{ Key: "k", Value: "v" }], Names: ["a", "b"], Nothing: [] };
    const text = renderQueryAnswer({ action: "X", namespace: NAMESPACE, requestId: "r", result });
    expect(new XMLParser().parse(text).XResponse.XResult).toEqual({
      Tags: { member: { Key: "k", Value: "v" } },
      Names: { member: ["a", "b"] },
      Nothing: "",
    });
  });

  test("leaves quotes alone, as AWS does", () => {
    const error = { code: "ValidationError", status: 400, namespace: NAMESPACE, requestId: "r" };
    const message = "Value 'x' at 'roleArn' failed";
    expect(renderQueryError({ ...error, message })).toContain(`<Message>${message}</Message>`);
  });

  test("without result has its metadata alone", () => {
    expect(renderQueryAnswer({ action: "DeleteRole", namespace: NAMESPACE, requestId: "r" })).not.toContain("Result>");
  });

  test("says whose fault an error is, and keeps its message whole", () => {
    const error = {
      code: "AccessDenied",
      status: 403,
      message: 'a "quoted" <tag> & \u0000 \ud800',
      namespace: NAMESPACE,
      requestId: "r",
    };
    const text = renderQueryError(error);
    expect(text).toContain(
      '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">\n  <Error>\n    <Type>Sender</Type>\n',
    );
    expect(new XMLParser().parse(text).ErrorResponse).toEqual({
      Error: { Type: "Sender", Code: "AccessDenied", Message: 'a "quoted" <tag> & \ufffd \ufffd' },
      RequestId: "r",
    });
    expect(renderQueryError({ ...error, status: 500 })).toContain("<Type>Receiver</Type>");
  });
});
