// The smallest static programs that a container can run, written byte by byte: one ELF64 header, one loadable segment,
// a few instructions and a text (System V gABI, chapter 4 and 5; Linux system call numbers of each architecture).

export type Architecture = "amd64" | "arm64";

/** What a program does after printing its text. */
export type Ending = "exit" | "pause";

const BASE = 0x400000;
const HEADER_BYTES = 64 + 56;
const MACHINE = { amd64: 62, arm64: 183 } as const;
/** arm64 kernels may use pages of 64 KiB. */
const ALIGNMENT = 0x10000;

/** A static executable that writes `text` to standard output, then exits with 0 or waits for ever. */
export function createProgram(architecture: Architecture, ending: Ending, text: string): Buffer {
  const message = Buffer.from(text);
  const code = architecture === "amd64" ? amd64Code(ending, message.length) : arm64Code(ending, message.length);
  const size = HEADER_BYTES + code.length + message.length;
  return Buffer.concat([header(architecture, size), code, message]);
}

function header(architecture: Architecture, size: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write("\x7fELF\x02\x01\x01", "latin1");
  bytes.writeUInt16LE(2, 16); // e_type: executable
  bytes.writeUInt16LE(MACHINE[architecture], 18);
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(BigInt(BASE + HEADER_BYTES), 24); // e_entry
  bytes.writeBigUInt64LE(64n, 32); // e_phoff
  bytes.writeUInt16LE(64, 52);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56); // e_phnum
  bytes.writeUInt32LE(1, 64); // p_type: load
  bytes.writeUInt32LE(5, 68); // p_flags: read and execute
  bytes.writeBigUInt64LE(BigInt(BASE), 80);
  bytes.writeBigUInt64LE(BigInt(BASE), 88);
  bytes.writeBigUInt64LE(BigInt(size), 96);
  bytes.writeBigUInt64LE(BigInt(size), 104);
  bytes.writeBigUInt64LE(BigInt(ALIGNMENT), 112);
  return bytes;
}

const SYSCALL = [0x0f, 0x05];

function amd64Code(ending: Ending, length: number): Buffer {
  // pause() again and again; or exit(0)
  const end =
    ending === "pause" ? [0xb8, ...le32(34), ...SYSCALL, 0xeb, 0xf7] : [0xb8, ...le32(60), 0x31, 0xff, ...SYSCALL];
  const textOffset = 5 + SYSCALL.length + end.length; // from after lea to the text
  const start = [0xb8, ...le32(1), 0xbf, ...le32(1), 0x48, 0x8d, 0x35, ...le32(textOffset)];
  return Buffer.from([...start, 0xba, ...le32(length), ...SYSCALL, ...end]);
}

const SVC = 0xd4000001;

function arm64Code(ending: Ending, length: number): Buffer {
  const exit = [movz(0, 0), movz(8, 93), SVC];
  // ppoll(0, 0, 0, 0, 0) in a loop, since arm64 has no pause
  const pause = [movz(0, 0), movz(1, 0), movz(2, 0), movz(3, 0), movz(4, 0), movz(8, 73), SVC, branch(-7)];
  const end = ending === "pause" ? pause : exit;
  const afterAdr = 4 + end.length; // adr itself, length, number, call
  const words = [movz(0, 1), adr(1, afterAdr * 4), movz(2, length), movz(8, 64), SVC, ...end];
  return Buffer.from(words.flatMap(le32));
}

function movz(register: number, value: number): number {
  return 0xd2800000 + (value << 5) + register;
}

function adr(register: number, offset: number): number {
  return 0x10000000 + ((offset >> 2) << 5) + register;
}

function branch(words: number): number {
  return 0x14000000 + (words & 0x3ffffff);
}

function le32(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, (value >>> 24) & 0xff];
}
