// The identities of the world: the room's only state.
import type { Clock } from "../shared/clock.ts";
import type { Random } from "../shared/random.ts";
import type { AccountSeed, Iam } from "./types.ts";

export interface IamOptions {
  readonly accounts: readonly AccountSeed[];
  readonly random: Random;
  /** Where given, `aws:CurrentTime` and `aws:EpochTime` are known to every policy. */
  readonly clock?: Clock;
}

/** @throws IamError for a seed that IAM would refuse. */
export function createIam(options: IamOptions): Iam {
  void options;
  throw new Error("not built yet");
}
