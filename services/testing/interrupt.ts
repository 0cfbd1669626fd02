// Cleaning up when the process is told to end, for where no reaper does it.

/**
 * Runs `cleanUp` on SIGINT or SIGTERM, and lets the signal do its work afterwards.
 * @returns takes the listeners away again
 */
export function onInterrupt(cleanUp: () => Promise<void>): () => void {
  const signals = ["SIGINT", "SIGTERM"] as const;
  const forget = () => {
    for (const signal of signals) process.removeListener(signal, listener);
  };
  const listener = (signal: NodeJS.Signals) => {
    forget();
    // Raised again in any case: listeners of libraries (signal-exit) let a signal pass only when they are alone with it.
    void cleanUp().finally(() => process.kill(process.pid, signal));
  };
  for (const signal of signals) process.on(signal, listener);
  return forget;
}
