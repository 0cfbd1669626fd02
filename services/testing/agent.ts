// An agent for SDKs and `node:https`: the stack's names over TLS, without DNS.
import https from "node:https";
import net from "node:net";

export interface AgentTarget {
  /** The CA of the stack, PEM. */
  readonly ca: string;
  readonly address: string;
  readonly port: number;
  /** Names that lead to the stack; every other goes where it would have gone. */
  isServed(host: string): boolean;
}

/** Host header and server name stay the real name; only the connection leads to the stack. */
export function createStackAgent({ ca, address, port, isServed }: AgentTarget): https.Agent {
  const agent = new https.Agent({ keepAlive: true, ca });
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const host = String(options.host ?? "");
    if (!isServed(host.toLowerCase())) return createConnection(options, callback);
    const servername = net.isIP(host) ? "" : host;
    return createConnection({ ...options, host: address, port, servername }, callback);
  };
  return agent;
}
