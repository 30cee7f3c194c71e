/**
 * Builds the seccomp filter of a sandbox: a program of the kernel that refuses system calls. Pure.
 *
 * Namespaces limit the view of an app. The filter removes parts of the kernel that no decision app needs and whose faults
 * led out of namespaces: keyrings, user namespaces, bpf, io_uring, userfaultfd, mounts, modules.
 *
 * It also closes gaps of namespaces and limits. No network namespace contains sockets of virtual machines (vsock), and the
 * memory of System V IPC belongs to no process. A run must not leave its cores or hide from the watchdog.
 *
 * Where no cgroup counts the memory of a run, it refuses calls that hide memory from every process. A memfd file can be sent
 * over a socket and closed. A page moved to a pipe or a socket holds up to 2 MiB and counts as 4 KiB.
 */

interface Architecture {
  /** AUDIT_ARCH_* of the kernel. */
  audit: number;
  /** Numbers of calls that the filter decides by their arguments. */
  clone: number;
  clone3: number;
  socket: number;
  socketpair: number;
  prctl: number;
  setsockopt: number;
  sched_setaffinity: number;
  /** Calls that fail with EPERM, by name; the names serve readers only. */
  refused: Record<string, number>;
  /** Calls that fail with ENOSYS, so that programs use an alternative. */
  missing: Record<string, number>;
  /** Calls that fail with ENOSYS where no cgroup counts memory. */
  missingIfUncounted: Record<string, number>;
  /** Calls that fail with EINVAL where no cgroup counts memory, so that programs copy instead. */
  invalidIfUncounted: Record<string, number>;
  /** First number of a second calling convention (x32). */
  secondConventionFrom?: number;
}

/** Calls added after Linux 5.0 have the same number on every architecture. */
const REFUSED_EVERYWHERE = {
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  quotactl_fd: 443,
};
const MISSING_EVERYWHERE = { io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427 };

const ARCHITECTURES: Record<string, Architecture> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    clone3: 435,
    socket: 41,
    socketpair: 53,
    prctl: 157,
    setsockopt: 54,
    sched_setaffinity: 203,
    secondConventionFrom: 0x40000000,
    refused: {
      ...REFUSED_EVERYWHERE,
      pivot_root: 155,
      chroot: 161,
      acct: 163,
      settimeofday: 164,
      mount: 165,
      umount2: 166,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      sethostname: 170,
      setdomainname: 171,
      iopl: 172,
      ioperm: 173,
      init_module: 175,
      delete_module: 176,
      quotactl: 179,
      clock_settime: 227,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      unshare: 272,
      perf_event_open: 298,
      open_by_handle_at: 304,
      clock_adjtime: 305,
      setns: 308,
      finit_module: 313,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
    },
    missing: { ...MISSING_EVERYWHERE, shmget: 29, semget: 64, msgget: 68 },
    missingIfUncounted: { memfd_create: 319, memfd_secret: 447 },
    invalidIfUncounted: { sendfile: 40, splice: 275, tee: 276, vmsplice: 278 },
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    clone3: 435,
    socket: 198,
    socketpair: 199,
    prctl: 167,
    setsockopt: 208,
    sched_setaffinity: 122,
    refused: {
      ...REFUSED_EVERYWHERE,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      chroot: 51,
      quotactl: 60,
      acct: 89,
      unshare: 97,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      clock_settime: 112,
      reboot: 142,
      sethostname: 161,
      setdomainname: 162,
      settimeofday: 170,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      swapon: 224,
      swapoff: 225,
      perf_event_open: 241,
      open_by_handle_at: 265,
      clock_adjtime: 266,
      setns: 268,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
    },
    missing: { ...MISSING_EVERYWHERE, msgget: 186, semget: 190, shmget: 194 },
    missingIfUncounted: { memfd_create: 279, memfd_secret: 447 },
    invalidIfUncounted: { sendfile: 71, vmsplice: 75, splice: 76, tee: 77 },
  },
};

/** Every CLONE_NEW* flag but CLONE_NEWTIME, whose bit is part of the signal number here. */
const NEW_NAMESPACES = 0x7e020000;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const ALLOWED_FAMILIES = [1, 2, 10, 16];
const PR_SET_DUMPABLE = 4;
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_ZEROCOPY = 60;
/** As an error number: the call returns 0 and does nothing. */
const SUCCESS = 0;
const EPERM = 1;
const EINVAL = 22;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

/** Places in the kernel's `struct seccomp_data`; both architectures are little-endian. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENT = (index: number): number => 16 + 8 * index;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const fail = (errno: number): number => 0x00050000 | errno;

type Instruction = [code: number, k: number, ifTrue?: number, ifFalse?: number];

/**
 * Returns the filter for an architecture in Node's naming, as bubblewrap loads it; undefined for other architectures.
 *
 * @param countsMemory whether a cgroup counts the memory of the run.
 */
export function buildSeccompFilter(architecture: string, countsMemory: boolean): Buffer | undefined {
  const calls = ARCHITECTURES[architecture];
  if (calls === undefined) return undefined;
  const program: Instruction[] = [
    [LOAD, ARCHITECTURE],
    // Calls of another architecture have other numbers, so all of them fail.
    [JUMP_EQUAL, calls.audit, 1, 0],
    [RETURN, fail(ENOSYS)],
    [LOAD, NUMBER],
  ];
  if (calls.secondConventionFrom !== undefined) {
    program.push([JUMP_AT_LEAST, calls.secondConventionFrom, 0, 1], [RETURN, fail(ENOSYS)]);
  }
  const addRule = (number: number, instructions: Instruction[]): void => {
    program.push([JUMP_EQUAL, number, 0, instructions.length], ...instructions);
  };
  for (const number of Object.values(calls.refused)) addRule(number, [[RETURN, fail(EPERM)]]);
  for (const number of Object.values(calls.missing)) addRule(number, [[RETURN, fail(ENOSYS)]]);
  // Succeeds without effect, as in a container with few cores: the run keeps its cores.
  addRule(calls.sched_setaffinity, [[RETURN, fail(SUCCESS)]]);
  if (!countsMemory) {
    for (const number of Object.values(calls.missingIfUncounted)) addRule(number, [[RETURN, fail(ENOSYS)]]);
    for (const number of Object.values(calls.invalidIfUncounted)) addRule(number, [[RETURN, fail(EINVAL)]]);
    // Buffers keep the default size of the system, so that the capacity of a socket is known.
    addRule(calls.setsockopt, [
      [LOAD, ARGUMENT(1)],
      [JUMP_EQUAL, SOL_SOCKET, 0, 6],
      [LOAD, ARGUMENT(2)],
      [JUMP_EQUAL, SO_SNDBUF, 1, 0],
      [JUMP_EQUAL, SO_RCVBUF, 0, 1],
      [RETURN, fail(SUCCESS)],
      [JUMP_EQUAL, SO_ZEROCOPY, 0, 1],
      [RETURN, fail(EOPNOTSUPP)],
      [RETURN, ALLOW],
    ]);
  }
  // A filter cannot read the flags in memory; programs use clone instead.
  addRule(calls.clone3, [[RETURN, fail(ENOSYS)]]);
  addRule(calls.clone, [
    [LOAD, ARGUMENT(0)],
    [JUMP_ANY_BIT, NEW_NAMESPACES, 0, 1],
    [RETURN, fail(EPERM)],
    [RETURN, ALLOW],
  ]);
  for (const number of [calls.socket, calls.socketpair]) {
    const count = ALLOWED_FAMILIES.length;
    addRule(number, [
      [LOAD, ARGUMENT(0)],
      ...ALLOWED_FAMILIES.map((family, index): Instruction => [JUMP_EQUAL, family, count - index, 0]),
      [RETURN, fail(EAFNOSUPPORT)],
      [RETURN, ALLOW],
    ]);
  }
  // A process that is not dumpable hides its open files and their size from a watchdog of the same user.
  addRule(calls.prctl, [
    [LOAD, ARGUMENT(0)],
    [JUMP_EQUAL, PR_SET_DUMPABLE, 0, 3],
    [LOAD, ARGUMENT(1)],
    [JUMP_EQUAL, 1, 1, 0],
    [RETURN, fail(EPERM)],
    [RETURN, ALLOW],
  ]);
  program.push([RETURN, ALLOW]);
  return assemble(program);
}

/** Encodes instructions as `struct sock_filter`: code, two jumps counted from the next instruction, and a number. */
function assemble(program: Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, k, ifTrue = 0, ifFalse = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  }
  return bytes;
}
