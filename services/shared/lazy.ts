// Values that are made when first asked for: a start should not pay for what nobody uses.

/** Call it for the value; `peek` tells what was made so far. */
export interface Lazy<T> {
  (): T;
  peek(): T | undefined;
}

/** @param make called once, at the first call; a throwing one is called again the next time */
export function lazy<T>(make: () => T): Lazy<T> {
  let made: { readonly value: T } | undefined;
  const get = (): T => {
    made ??= { value: make() };
    return made.value;
  };
  return Object.assign(get, { peek: () => made?.value });
}
