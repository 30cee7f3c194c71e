/**
 * The system calls that an app in a sandbox is refused, as a program for the kernel's filter (seccomp). Pure.
 *
 * Namespaces decide what an app sees; the filter takes away the parts of the kernel that no decision app needs and where
 * faults that lead out of namespaces have been found: keyrings, user namespaces, bpf, io_uring, userfaultfd, mounts,
 * modules. It also closes what namespaces and limits leave open: sockets of virtual machines (vsock), which no network
 * namespace holds, System V IPC, whose memory belongs to no process, leaving the cores of the run, and hiding from the
 * watchdog. Where no cgroup counts the memory of a run, so do calls by which memory outlives every process's view of it:
 * files in memory, which can be sent over a socket and closed, and pages given to a pipe or a socket, each of which holds
 * as much as 2 MiB in memory and counts as 4 KiB.
 */

interface Architecture {
  /** AUDIT_ARCH_* of the kernel. */
  audit: number;
  /** Numbers of the calls that are told apart by their arguments. */
  clone: number;
  clone3: number;
  socket: number;
  socketpair: number;
  prctl: number;
  setsockopt: number;
  sched_setaffinity: number;
  /** By name; the name serves readers only. */
  refused: Record<string, number>;
  /** Answered as if the kernel did not know them, so that programs fall back. */
  unknown: Record<string, number>;
  /** The same, where memory is not counted by a cgroup. */
  unknownUncounted: Record<string, number>;
  /** Answered as if they could not be done with these files, after which programs copy; where memory is not counted. */
  unfitUncounted: Record<string, number>;
  /** Where numbers of a second calling convention begin (x32). */
  foreignFrom?: number;
}

/** Calls that came after 5.0 have one number everywhere. */
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
const UNKNOWN_EVERYWHERE = { io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427 };

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
    foreignFrom: 0x40000000,
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
    unknown: { ...UNKNOWN_EVERYWHERE, shmget: 29, semget: 64, msgget: 68 },
    unknownUncounted: { memfd_create: 319, memfd_secret: 447 },
    unfitUncounted: { sendfile: 40, splice: 275, tee: 276, vmsplice: 278 },
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
    unknown: { ...UNKNOWN_EVERYWHERE, msgget: 186, semget: 190, shmget: 194 },
    unknownUncounted: { memfd_create: 279, memfd_secret: 447 },
    unfitUncounted: { sendfile: 71, vmsplice: 75, splice: 76, tee: 77 },
  },
};

/** Every CLONE_NEW* flag but CLONE_NEWTIME, whose bit is part of the signal number here. */
const NEW_NAMESPACES = 0x7e020000;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [1, 2, 10, 16];
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
const refuse = (errno: number): number => 0x00050000 | errno;

type Instruction = [code: number, k: number, ifTrue?: number, ifFalse?: number];

/**
 * The filter for an architecture as Node names it, to be handed to bubblewrap; undefined where none was written.
 *
 * @param countsMemory whether a cgroup counts the memory of the run.
 */
export function buildSeccompFilter(architecture: string, countsMemory: boolean): Buffer | undefined {
  const known = ARCHITECTURES[architecture];
  if (known === undefined) return undefined;
  const program: Instruction[] = [
    [LOAD, ARCHITECTURE],
    // Calls of another architecture have other numbers, so none of them is let through.
    [JUMP_EQUAL, known.audit, 1, 0],
    [RETURN, refuse(ENOSYS)],
    [LOAD, NUMBER],
  ];
  if (known.foreignFrom !== undefined) {
    program.push([JUMP_AT_LEAST, known.foreignFrom, 0, 1], [RETURN, refuse(ENOSYS)]);
  }
  const only = (number: number, then: Instruction[]): void => {
    program.push([JUMP_EQUAL, number, 0, then.length], ...then);
  };
  for (const number of Object.values(known.refused)) only(number, [[RETURN, refuse(EPERM)]]);
  for (const number of Object.values(known.unknown)) only(number, [[RETURN, refuse(ENOSYS)]]);
  // As in a container with few cores: to ask for all of them succeeds, and gives no more than there were.
  only(known.sched_setaffinity, [[RETURN, refuse(SUCCESS)]]);
  if (!countsMemory) {
    for (const number of Object.values(known.unknownUncounted)) only(number, [[RETURN, refuse(ENOSYS)]]);
    for (const number of Object.values(known.unfitUncounted)) only(number, [[RETURN, refuse(EINVAL)]]);
    // Buffers stay as large as the system makes them, so that it is known what a socket can hold.
    only(known.setsockopt, [
      [LOAD, ARGUMENT(1)],
      [JUMP_EQUAL, SOL_SOCKET, 0, 6],
      [LOAD, ARGUMENT(2)],
      [JUMP_EQUAL, SO_SNDBUF, 1, 0],
      [JUMP_EQUAL, SO_RCVBUF, 0, 1],
      [RETURN, refuse(SUCCESS)],
      [JUMP_EQUAL, SO_ZEROCOPY, 0, 1],
      [RETURN, refuse(EOPNOTSUPP)],
      [RETURN, ALLOW],
    ]);
  }
  // Its flags lie in memory, where no filter can look; programs fall back to clone.
  only(known.clone3, [[RETURN, refuse(ENOSYS)]]);
  only(known.clone, [
    [LOAD, ARGUMENT(0)],
    [JUMP_ANY_BIT, NEW_NAMESPACES, 0, 1],
    [RETURN, refuse(EPERM)],
    [RETURN, ALLOW],
  ]);
  for (const number of [known.socket, known.socketpair]) {
    const count = FAMILIES.length;
    only(number, [
      [LOAD, ARGUMENT(0)],
      ...FAMILIES.map((family, place): Instruction => [JUMP_EQUAL, family, count - place, 0]),
      [RETURN, refuse(EAFNOSUPPORT)],
      [RETURN, ALLOW],
    ]);
  }
  // Who is not dumpable hides its open files, and so the space they take, from a watchdog of the same user.
  only(known.prctl, [
    [LOAD, ARGUMENT(0)],
    [JUMP_EQUAL, PR_SET_DUMPABLE, 0, 3],
    [LOAD, ARGUMENT(1)],
    [JUMP_EQUAL, 1, 1, 0],
    [RETURN, refuse(EPERM)],
    [RETURN, ALLOW],
  ]);
  program.push([RETURN, ALLOW]);
  return assemble(program);
}

/** `struct sock_filter`: code, two jumps counted from the next instruction, and a number. */
function assemble(program: Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [place, [code, k, ifTrue = 0, ifFalse = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, place * 8);
    bytes.writeUInt8(ifTrue, place * 8 + 2);
    bytes.writeUInt8(ifFalse, place * 8 + 3);
    bytes.writeUInt32LE(k, place * 8 + 4);
  }
  return bytes;
}
