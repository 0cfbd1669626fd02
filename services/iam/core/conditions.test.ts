// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables are written like this
import { describe, expect, test } from "vitest";
import { createConditionFacts, evaluateCondition, findValueProblem, parseOperator } from "./conditions.ts";

type Found = string | readonly string[] | undefined;

function evaluate(operator: string, expected: string | readonly string[], found: Found): string {
  const facts = createConditionFacts(found === undefined ? {} : { "Test:Key": found });
  const values = typeof expected === "string" ? [expected] : expected;
  const lookup = (key: string) => (key === "test:key" ? facts.get(key)?.[0] : undefined);
  return evaluateCondition({ operator, key: "test:KEY", values }, facts, lookup).result;
}

const YES = "match";
const NO = "no-match";
const UNKNOWN = "unknown";

test.each<[string, string | readonly string[], Found, string]>([
  ["StringEquals", "a", "a", YES],
  ["StringEquals", "a", "A", NO],
  ["StringEquals", ["b", "a"], "a", YES],
  ["StringEquals", "system:serviceaccount:a:*", "system:serviceaccount:a:x", NO],
  ["StringEquals", "*", "*", YES],
  ["StringEquals", "a", undefined, NO],
  ["StringNotEquals", "a", "b", YES],
  ["StringNotEquals", "a", "a", NO],
  ["StringNotEquals", ["a", "b"], "b", NO],
  ["StringNotEquals", "a", undefined, YES],
  ["StringEqualsIgnoreCase", "aB", "Ab", YES],
  ["StringNotEqualsIgnoreCase", "aB", "Ab", NO],
  ["StringLike", "a*", "abc", YES],
  ["StringLike", "a?", "abc", NO],
  ["StringLike", "A*", "abc", NO],
  ["StringNotLike", "a*", "abc", NO],
  ["StringNotLike", "b*", "abc", YES],
  ["StringLike", "${test:none}", "x", NO],
  ["StringEquals", "${test:key}", "x", YES],

  ["NumericEquals", "10", "10.0", YES],
  ["NumericNotEquals", "10", "10", NO],
  ["NumericLessThan", "10", "9", YES],
  ["NumericLessThan", "10", "10", NO],
  ["NumericLessThanEquals", "10", "10", YES],
  ["NumericGreaterThan", "9", "10", YES],
  ["NumericGreaterThanEquals", "10", "9", NO],
  ["NumericEquals", "10", "ten", UNKNOWN],
  ["NumericNotEquals", "10", "ten", UNKNOWN],

  ["DateLessThan", "2026-01-01T00:00:00Z", "2025-12-31T23:59:59Z", YES],
  ["DateLessThan", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", NO],
  ["DateGreaterThan", "0", "2026-01-01T00:00:00Z", YES],
  ["DateEquals", "1767225600", "2026-01-01T00:00:00Z", YES],
  ["DateNotEquals", "1767225600", "2026-01-01T00:00:01Z", YES],
  ["DateGreaterThanEquals", "2026-01-01", "2026-01-01T00:00:00Z", YES],
  ["DateLessThanEquals", "2026-01-01", "soon", UNKNOWN],

  ["Bool", "true", "true", YES],
  ["Bool", "true", "false", NO],
  ["Bool", "false", undefined, NO],
  ["Bool", "true", "yes", UNKNOWN],

  ["BinaryEquals", "QUJD", "QUJD", YES],
  ["BinaryEquals", "QUJD", "QUJE", NO],

  ["IpAddress", "10.0.0.0/8", "10.1.2.3", YES],
  ["IpAddress", "10.0.0.0/8", "11.1.2.3", NO],
  ["IpAddress", ["192.0.2.1", "10.0.0.0/8"], "192.0.2.1", YES],
  ["IpAddress", "192.0.2.1", "192.0.2.2", NO],
  ["NotIpAddress", "10.0.0.0/8", "11.1.2.3", YES],
  ["NotIpAddress", "10.0.0.0/8", "10.1.2.3", NO],
  ["IpAddress", "2001:db8::/32", "2001:db8::1", YES],
  ["IpAddress", "2001:db8::/32", "10.0.0.1", NO],
  ["IpAddress", "127.0.0.1", "::ffff:127.0.0.1", YES],
  ["IpAddress", "10.0.0.0/8", "somewhere", UNKNOWN],
  ["NotIpAddress", "10.0.0.0/8", "somewhere", UNKNOWN],

  ["ArnEquals", "arn:aws:iam::111122223333:role/*", "arn:aws:iam::111122223333:role/a/b", YES],
  ["ArnLike", "arn:aws:iam::*:role/a", "arn:aws:iam::111122223333:role/a", YES],
  ["ArnLike", "arn:aws:iam:*:role/a", "arn:aws:iam::111122223333:role/a", NO],
  ["ArnNotLike", "arn:aws:iam::*:role/a", "arn:aws:iam::111122223333:role/a", NO],
  ["ArnNotEquals", "arn:aws:iam::*:role/b", "arn:aws:iam::111122223333:role/a", YES],

  ["Null", "true", undefined, YES],
  ["Null", "false", undefined, NO],
  ["Null", "true", "a", NO],
  ["Null", "false", "a", YES],
  ["Null", "true", [], YES],

  ["StringEqualsIfExists", "a", undefined, YES],
  ["StringEqualsIfExists", "a", "b", NO],
  ["StringNotEqualsIfExists", "a", "a", NO],
  ["NumericLessThanIfExists", "1", undefined, YES],

  ["ForAllValues:StringEquals", ["a", "b"], ["a", "b"], YES],
  ["ForAllValues:StringEquals", ["a", "b"], ["a", "c"], NO],
  ["ForAllValues:StringEquals", ["a"], undefined, YES],
  ["ForAllValues:StringEquals", ["a"], [], YES],
  ["ForAnyValue:StringEquals", ["a"], ["x", "a"], YES],
  ["ForAnyValue:StringEquals", ["a"], ["x", "y"], NO],
  ["ForAnyValue:StringEquals", ["a"], undefined, NO],
  ["ForAnyValue:StringNotEquals", ["a"], ["a", "b"], YES],
  ["ForAnyValue:StringNotEquals", ["a"], ["a", "a"], NO],
  ["ForAllValues:StringNotLike", ["a*"], ["b", "ab"], NO],
  ["ForAnyValue:StringLikeIfExists", ["a*"], undefined, YES],
  ["StringEquals", "a", ["x", "a"], YES],

  ["StringEqals", "a", "a", UNKNOWN],
  ["stringEquals", "a", "a", UNKNOWN],
  ["NullIfExists", "true", undefined, UNKNOWN],
  ["ForAllValues:Null", "true", undefined, UNKNOWN],
  ["ForSomeValues:StringEquals", "a", "a", UNKNOWN],
])("%s %j, found %j: %s", (operator, expected, found, result) => {
  expect(evaluate(operator, expected, found)).toBe(result);
});

test("what is expected and found is told", () => {
  const facts = createConditionFacts({ "a:b": "found" });
  const ask = (operator: string, key: string) =>
    evaluateCondition({ operator, key, values: ["one", "two"] }, facts, undefined).because;
  expect(ask("StringEquals", "a:b")).toBe('condition StringEquals on a:b: expected "one" or "two", found "found"');
  expect(ask("StringNotEquals", "a:c")).toBe(
    'condition StringNotEquals on a:c: expected anything but "one" or "two", found no such key',
  );
});

test("later contexts override earlier ones, whatever the case of their keys", () => {
  expect(createConditionFacts({ "aws:A": "1" }, undefined, { "AWS:a": "2" }).get("aws:a")).toEqual(["2"]);
});

describe("values are checked when a policy is loaded", () => {
  test.each<[string, string, boolean]>([
    ["Bool", "true", true],
    ["Bool", "yes", false],
    ["Null", "TRUE", true],
    ["Null", "1", false],
    ["NumericLessThan", "-1.5", true],
    ["NumericLessThan", "1e3", false],
    ["DateLessThan", "2026-01-01T00:00:00Z", true],
    ["DateLessThan", "1.1.2026", false],
    ["IpAddress", "10.0.0.0/8", true],
    ["IpAddress", "2001:db8::/32", true],
    ["IpAddress", "10.0.0.0/33", false],
    ["IpAddress", "10.0.0", false],
    ["IpAddress", "010.0.0.1", false],
    ["ArnLike", "arn:aws:iam::*:role/*", true],
    ["ArnLike", "*", false],
    ["BinaryEquals", "QUJD", true],
    ["BinaryEquals", "QUJ", false],
    ["StringEquals", "", true],
  ])("%s %j: %j", (operator, value, legal) => {
    const problem = findValueProblem(parseOperator(operator)!, value);
    if (legal) expect(problem).toBeUndefined();
    else expect(problem).toContain(`found "${value}"`);
  });
});
