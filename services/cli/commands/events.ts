// `pullproof events`: the event log of a running stack, once or as it grows.
import { parseEventAnswer, parseEventsAnswer } from "../answers.ts";
import { type ClientOptions, createControlClient } from "../client.ts";
import { EVENT_HEAD, renderEventLine, renderEventRow } from "../event-lines.ts";
import { EXIT } from "../exit.ts";
import type { Cli } from "../types.ts";

const FILTERS = ["since", "trace", "lineage", "operation", "principal", "decision", "limit"] as const;

export interface EventsOptions extends ClientOptions, Readonly<Partial<Record<(typeof FILTERS)[number], string>>> {
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** Prints the events that pass every filter. With `json`: the page, or with `follow` one event a line. @returns the exit code */
export async function runEvents(options: EventsOptions, cli: Cli): Promise<number> {
  const client = createControlClient(options, cli.environment);
  const path = renderPath(options);
  if (options.follow) {
    const stop = new AbortController();
    void cli.untilStopped().then(() => stop.abort());
    await client.follow(path, (event) => printEvent(event, options, cli), stop.signal);
    if (!stop.signal.aborted) cli.output.note("the stack has ended the stream of events");
    return EXIT.ok;
  }
  const answer = await client.request("GET", path);
  if (options.json) {
    cli.output.json(answer);
    return EXIT.ok;
  }
  const { events } = parseEventsAnswer(answer);
  if (events.length === 0) cli.output.note("no such events");
  const rows = events.map((event) => renderEventRow(event, cli.output.paint));
  if (rows.length > 0) await cli.output.table(EVENT_HEAD, rows);
  return EXIT.ok;
}

function renderPath(options: EventsOptions): string {
  const query = new URLSearchParams();
  for (const name of FILTERS) {
    const value = options[name];
    if (value !== undefined) query.set(name, value);
  }
  return query.size > 0 ? `events?${query}` : "events";
}

function printEvent(event: unknown, options: EventsOptions, { output }: Cli): void {
  if (options.json) output.json(event);
  else output.print(renderEventLine(parseEventAnswer(event), output.paint));
}
