// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables are written like this
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesArn, splitArn } from "./arn-pattern.ts";
import { fillTemplate, findTemplateProblem, matchesTemplate, matchesWildcard } from "./match.ts";

describe("wildcards", () => {
  test.each([
    ["abc", "abc", true],
    ["abc", "ab", false],
    ["ab", "abc", false],
    ["abc", "a*", true],
    ["abc", "*c", true],
    ["abc", "*b*", true],
    ["abc", "a?c", true],
    ["ac", "a?c", false],
    ["", "*", true],
    ["", "?", false],
    ["", "", true],
    ["a*c", "a*c", true],
    ["aXbXc", "a*X*c", true],
    ["abcabd", "*abd", true],
    ["ABC", "abc", false],
    ["a.c", "abc", false],
  ])("%j against %j is %j", (text, pattern, expected) => {
    expect(matchesWildcard(text, pattern)).toBe(expected);
  });

  test("agree with a regular expression for any text and pattern", () => {
    const small = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
    fc.assert(
      fc.property(small, small, (text, pattern) => {
        const expression = pattern.replace(/[*?]/g, (wildcard) => (wildcard === "*" ? ".*" : "."));
        expect(matchesWildcard(text, pattern)).toBe(new RegExp(`^${expression}$`, "s").test(text));
      }),
    );
  });

  test("stay fast for patterns made to be slow", () => {
    expect(matchesWildcard("a".repeat(5000), `${"*a".repeat(2000)}b`)).toBe(false);
  });
});

describe("policy variables", () => {
  const values: Record<string, string> = { "aws:username": "ann", "aws:principaltag/team": "*", "a:colon": "x:y" };
  const lookup = (key: string) => values[key];

  test.each([
    ["home/ann", "home/${aws:username}", true],
    ["home/ann", "home/${AWS:UserName}", true],
    ["home/bob", "home/${aws:username}", false],
    ["home/ann/x", "home/${aws:username}/*", true],
    ["*", "${aws:PrincipalTag/team}", true],
    ["anything", "${aws:PrincipalTag/team}", false],
    ["ab", "${*}", false],
    ["*", "${*}", true],
    ["?", "${?}", true],
    ["$", "${$}", true],
    ["guest", "${aws:none, 'guest'}", true],
    ["ann", "${aws:username, 'guest'}", true],
    ["", "${aws:none}", false],
    ["x", "*${aws:none}*", false],
  ])("%j against %j is %j", (text, template, expected) => {
    expect(matchesTemplate(text, template, lookup)).toBe(expected);
  });

  test("are plain text in documents before 2012", () => {
    expect(matchesTemplate("${aws:username}", "${aws:username}", undefined)).toBe(true);
    expect(matchesTemplate("ann", "${aws:username}", undefined)).toBe(false);
  });

  test("fill a template where wildcards mean themselves", () => {
    expect(fillTemplate("*-${aws:username}", lookup)).toBe("*-ann");
    expect(fillTemplate("${aws:none}", lookup)).toBeUndefined();
  });

  test.each(["${aws:username", "${", "${username}", "${aws:a b, 'x}", "${}", "x${aws:${y}}"])(
    "%j is refused",
    (template) => {
      expect(findTemplateProblem(template)).toMatch(/^expected/);
    },
  );

  test.each([
    "plain",
    "$x",
    "${*}${?}${$}",
    "${aws:username}",
    "${aws:PrincipalTag/a b, 'none'}",
    "${oidc.test:8443/c1:sub}",
  ])("%j is read", (template) => expect(findTemplateProblem(template)).toBeUndefined());

  test("cannot move the parts of an ARN by bringing colons", () => {
    expect(matchesArn("arn:aws:ecr:r:x:y", "arn:aws:ecr:r:${a:colon}", lookup)).toBe(false);
    expect(matchesArn("arn:aws:ecr:r:1:x:y", "arn:aws:ecr:r:1:${a:colon}", lookup)).toBe(true);
  });
});

describe("ARNs", () => {
  const arn = "arn:aws:ecr:us-west-2:111122223333:repository/team-a/app";
  test.each([
    ["*", true],
    [arn, true],
    ["arn:aws:ecr:us-west-2:111122223333:repository/team-a/*", true],
    ["arn:aws:ecr:us-west-2:111122223333:repository/*", true],
    ["arn:aws:ecr:us-west-2:111122223333:*", true],
    ["arn:aws:ecr:*:*:repository/team-a/app", true],
    ["arn:*:ecr:us-*-2:1111????3333:repository/team-a/app", true],
    ["arn:aws:ecr:*:repository/team-a/app", false],
    ["arn:aws:ecr:us-west-2:444455556666:repository/team-a/*", false],
    ["arn:aws:ecr:us-west-2:111122223333:repository/Team-a/app", false],
    ["arn:aws:ecr:us-west-2:111122223333:repository/team-a", false],
  ])("match %j: %j", (pattern, expected) => {
    expect(matchesArn(arn, pattern, undefined)).toBe(expected);
  });

  test("the resource * is matched by * alone", () => {
    expect(matchesArn("*", "*", undefined)).toBe(true);
    expect(matchesArn("*", "arn:aws:ecr:*:*:*", undefined)).toBe(false);
  });

  test("have six parts, the last keeps its colons", () => {
    expect(splitArn("arn:aws:a:b:c:d:e")).toEqual(["arn", "aws", "a", "b", "c", "d:e"]);
    expect(splitArn("arn:aws:a:b")).toBeUndefined();
    expect(splitArn("nra:aws:a:b:c:d")).toBeUndefined();
  });
});
