// Readers for the numbers and flags of a world (see world-texts.ts for how readers work).
import type { Reader } from "./world-place.ts";

/** A whole number within bounds, both included. */
export function whole(from: number, to: number): Reader<number> {
  return (place) => {
    const { value } = place;
    if (typeof value === "number" && Number.isInteger(value) && value >= from && value <= to) return value;
    place.refuse(from === to ? `the number ${from}` : `a whole number from ${from} to ${to}`);
    return from;
  };
}

export const flag: Reader<boolean> = (place) => {
  if (typeof place.value === "boolean") return place.value;
  place.refuse("true or false");
  return false;
};
