// The hash of the provider configuration that a kubelet shows in `kubelet_credential_provider_config_info` (kubelet.md 1.7).
import { createHash } from "node:crypto";

/** `sha256:<hex>` over length (eight bytes, big-endian) and bytes of each file in order. */
export function hashConfigFiles(files: readonly Buffer[]): string {
  const hash = createHash("sha256");
  for (const bytes of files) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bytes.length));
    hash.update(length).update(bytes);
  }
  return `sha256:${hash.digest("hex")}`;
}
