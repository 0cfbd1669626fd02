// Layers as ustar archives with fixed times and owners, so that equal content has equal digests (POSIX.1-1988 ustar;
// image-spec v1.1.1, layer.md).

const BLOCK = 512;

export interface TarEntry {
  readonly name: string;
  readonly mode: number;
  /** The content in pieces; they are used as they are, not copied. */
  readonly chunks: readonly Buffer[];
}

/** An archive of plain files as a list of chunks. Names are at most 100 bytes. */
export function createTar(entries: readonly TarEntry[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (const entry of entries) {
    const size = entry.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    chunks.push(tarHeader(entry, size), ...entry.chunks);
    if (size % BLOCK !== 0) chunks.push(Buffer.alloc(BLOCK - (size % BLOCK)));
  }
  chunks.push(Buffer.alloc(2 * BLOCK));
  return chunks;
}

function tarHeader(entry: TarEntry, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(entry.name, 0, 100, "utf8");
  header.write(octal(entry.mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\0" + "00", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, "0")}\0`;
}
