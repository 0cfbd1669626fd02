import { expect, it } from "vitest";
import { lazy } from "./lazy.ts";

it("makes a value once, when it is first asked for", () => {
  let made = 0;
  const value = lazy(() => ++made);
  expect([made, value.peek()]).toEqual([0, undefined]);
  expect([value(), value(), value.peek(), made]).toEqual([1, 1, 1, 1]);
});

it("tries again after a failure", () => {
  let tries = 0;
  const value = lazy(() => {
    tries += 1;
    if (tries === 1) throw new Error("first");
    return undefined;
  });
  expect(() => value()).toThrow("first");
  expect([value(), value(), tries]).toEqual([undefined, undefined, 2]);
});
