/** Hostile apps, each with a function that classifies its end. The rows of the tables in README.md have these names. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import type { EndedRun, Host, LogLine } from '../types.ts';
import {
  type AppSpec,
  createShellApp,
  createUniqueSeconds,
  listProcessesWithArgument,
  MIB,
} from './runner-harness.ts';

/** `refused`: without effect. `bounded`: ended or capped at a limit. `not held`: not limited. */
type AttackResult = 'refused' | 'bounded' | 'not held';

interface Attack {
  spec: AppSpec;
  classify(end: { outcome: EndedRun; stdout: string; lines: LogLine[]; host: Host }): AttackResult;
  /** Programs of the host that the attack needs. */
  requiredTools?: string[];
  /** Needs a kernel that allows links to files of others, as it does by default. */
  allowsHardLinks?: true;
}

/** Limits of every attack, unless it sets its own. */
export const ATTACK_LIMITS = {
  memoryBytes: 256 * MIB,
  fileBytes: 32 * MIB,
  files: 2_000,
  processes: 60,
  durationMs: 15_000,
  outputBytes: MIB,
  logBytes: MIB,
};

/** An attack that ends at this limit. */
function endAtLimit(reason: EndedRun['reason'], ...scripts: string[]): Attack {
  return {
    spec: { files: createShellApp(scripts.join('\n')) },
    classify: ({ outcome }) => (outcome.reason === reason ? 'bounded' : 'not held'),
  };
}

/** An attack whose last printed line is its result. */
function reportResult(...scripts: string[]): Attack {
  return {
    spec: { files: createShellApp(scripts.join('\n')) },
    classify: ({ stdout }) => parseResult(stdout) ?? 'not held',
  };
}

function parseResult(stdout: string): AttackResult | undefined {
  const result = stdout.trim();
  return result === 'refused' || result === 'bounded' ? result : undefined;
}

/**
 * Repeats a step in Python 20 times that uses at least 20 MB of memory which resident memory does not show. The limit on
 * files is far above what other tests write meanwhile. Without a disk of its own, a run with descriptors in flight ends
 * because of disk space that the host loses. The attack would then not measure memory.
 */
function hideMemory(step: string, before = ''): Attack {
  return {
    requiredTools: ['python3'],
    spec: {
      limits: { openFiles: 4096, fileBytes: 8 * 1024 * MIB },
      ...python(
        `import ctypes, gc, mmap, os, socket, time
libc = ctypes.CDLL(None); keep = []; a, b = socket.socketpair(); keep.append((a, b))
${before}
try:
  for i in range(20):${step}
except OSError:
  print("refused", flush=True); os._exit(1)
time.sleep(3)
`,
      ),
    },
    classify: ({ outcome, stdout }) =>
      outcome.reason === 'memory' ? 'bounded' : (parseResult(stdout) ?? 'not held'),
  };
}

function countProcesses(script: Pick<Attack, 'spec' | 'requiredTools'>): Attack {
  const classify: Attack['classify'] = ({ outcome, stdout }) =>
    outcome.reason === 'processes' || (Number(stdout) > 0 && Number(stdout) <= ATTACK_LIMITS.processes + 4)
      ? 'bounded'
      : 'not held';
  return { ...script, classify };
}

const python = (script: string): AppSpec => ({ type: 'python', files: { 'main.py': script } });
const daemonSeconds = createUniqueSeconds();
/** Writes 40 MB to `$1` in ten files, keeps them longer than the longest pause of the watchdog, and removes them. */
const FILL = `fill() { for i in 0 1 2 3 4 5 6 7 8 9; do head -c 4000000 /dev/zero > "$1/switchyard-$$-$i"; done; sleep 2.5; rm -f "$1"/switchyard-$$-*; }`;
/** A copy that may be executed and not read: only root can inspect such a process. */
const MAKE_UNREADABLE_COPY = 'cp "$(readlink -f /usr/bin/perl)" hidden && chmod 111 hidden';
const UNLINKED = `'for (1..10) { open($f[$_], ">", "x"); unlink "x"; syswrite($f[$_], "x" x 4e6); } sleep 10'`;

/** Python code that creates an unlinked file of 16 MB. */
const UNNAMED = `import os, time
block = b"x" * 4000000
def unnamed():
  fd = os.open('f', os.O_RDWR | os.O_CREAT); os.unlink('f')
  for i in range(4): os.write(fd, block)
  return fd`;

/** All attacks, by name. */
export const ATTACKS: Record<string, Attack> = {
  'forks without end': countProcesses({
    spec: {
      files: createShellApp(
        `perl -e 'while (1) { my $p = fork; if (!defined $p) { last } if (!$p) { sleep 60; exit } $n++ } print $n; kill 9, -getppid; exit 1'`,
      ),
    },
  }),
  'threads without end': countProcesses({
    requiredTools: ['python3'],
    spec: python(
      'import os, threading, time\nn = 0\ntry:\n  while True:\n    threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); n += 1\nexcept RuntimeError: pass\nprint(n, flush=True)\nos._exit(1)\n',
    ),
  }),
  'memory in one process': endAtLimit('memory', `perl -e '$x[$_] = "x" x 1e7 for (1..200); sleep 10'`),
  'memory in many processes': endAtLimit(
    'memory',
    `for i in 1 2 3 4 5 6; do perl -e '$x = "x" x 6e7; sleep 10' & done; wait`,
  ),
  'memory in files without a name (memfd)': hideMemory(`
    keep.append(os.memfd_create("m")); os.write(keep[-1], b"x" * 20000000)`),
  'memory in such files, sent over a socket and closed': hideMemory(`
    f = os.memfd_create("m"); os.write(f, b"x" * 20000000); socket.send_fds(a, [b"x"], [f]); os.close(f)`),
  'memory in page tables, by reading what was never written': hideMemory(
    `
    for at in range(i * 6000, (i + 1) * 6000): ctypes.string_at(zeros + (at << 21), 1)`,
    'libc.mmap.restype = ctypes.c_void_p; zeros = libc.mmap(None, ctypes.c_size_t(120000 << 21), 1, 0x4022, -1, ctypes.c_long(0))',
  ),
  'memory in buffers of sockets': hideMemory(
    `
    for at in range(95):
      pair = socket.socketpair(); keep.append(pair); pair[0].setblocking(False)
      try:
        while True: pair[0].send(b"x" * 65536)
      except BlockingIOError: pass`,
  ),
  'memory in pages given to pipes (vmsplice)': hideMemory(
    `
    r, w = os.pipe(); keep.append((r, w))
    m = mmap.mmap(-1, 34 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); m.madvise(14)
    at = -(-ctypes.addressof(ctypes.c_char.from_buffer(m)) // (1 << 21)) * (1 << 21)
    for page in range(16):
      ctypes.memset(at + (page << 21), 1, 1 << 21)
      v = (ctypes.c_size_t * 2)(at + (page << 21), 4096)
      if libc.vmsplice(w, v, ctypes.c_size_t(1), 2) != 4096: raise OSError("refused")
    del m; gc.collect()`,
  ),
  'memory that no process shows, on a host that has none left': {
    requiredTools: ['python3'],
    spec: python(
      'import mmap, time\nm = mmap.mmap(-1, 400 << 20)\nfor at in range(0, 100 << 20, 4 << 20):\n  m[at:at + (4 << 20)] = b"x" * (4 << 20); m.madvise(mmap.MADV_DONTNEED)\ntime.sleep(10)\n',
    ),
    classify: ({ outcome }) =>
      outcome.reason === 'memory' && outcome.error.startsWith('The host had') ? 'bounded' : 'not held',
  },
  'shared memory of System V, which belongs to no process': {
    ...reportResult(
      `perl -e 'for (1..20) { my $id = shmget(0, 2e7, 0600); if (!defined $id) { print "refused"; exit } push @ids, $id; shmwrite($id, "x" x 2e7, 0, 2e7) } sleep 1; END { shmctl($_, 0, 0) for @ids }'`,
    ),
    classify: ({ outcome, stdout }) =>
      outcome.reason === 'memory' ? 'bounded' : (parseResult(stdout) ?? 'not held'),
  },
  'being what the kernel ends last (oom_score_adj)': reportResult(
    'try() { echo 0 > /proc/$1/oom_score_adj && [ "$(cat /proc/$1/oom_score_adj)" = 0 ]; }',
    '{ try $$ || try 1; } 2>/dev/null || { echo refused; exit; }',
    'for i in 1 2 3 4 5 6 7 8; do sleep 0.5; [ "$(cat /proc/$$/oom_score_adj)" = 1000 ] && echo bounded && exit; done',
  ),
  'leaving the core it was given': {
    requiredTools: ['python3'],
    spec: {
      ...python(
        `import os, time
had = os.sched_getaffinity(0)
try: os.sched_setaffinity(0, range(os.cpu_count()))
except OSError: pass
more = len(os.sched_getaffinity(0)) - len(had)
print(more, end=' ', flush=True)
if more == 0: os._exit(0)
before = os.times(); begun = time.monotonic()
if os.fork() == 0:
  while time.monotonic() < begun + 0.6: pass
  os._exit(0)
while time.monotonic() < begun + 0.6: pass
os.wait(); after = os.times()
print(sum(after[:4]) - sum(before[:4]), time.monotonic() - begun)
`,
      ),
      limits: { cores: 1 },
    },
    classify: ({ stdout, host }) => {
      const [more, seconds = Number.NaN, elapsed = 0] = stdout.split(' ').map(Number);
      if (more === 0) return 'refused';
      // On a busy machine it may get no more, though nothing holds it.
      return host.enforcement.cores.startsWith('cgroup') && seconds / elapsed < 1.3 ? 'bounded' : 'not held';
    },
  },
  'one large file': endAtLimit('disk', 'head -c 40000000 /dev/zero > f; sleep 10'),
  'many files': endAtLimit('disk', FILL, 'fill .'),
  'files in /tmp': endAtLimit('disk', FILL, 'fill /tmp'),
  'files in /dev/shm': endAtLimit('disk', FILL, 'fill /dev/shm'),
  'empty files without end': endAtLimit(
    'disk',
    `perl -e 'for (1..1e6) { open($f, ">", "f$_"); close $f } sleep 10'`,
  ),
  'folders nested without end': endAtLimit(
    'disk',
    `perl -e 'for (1..1500) { mkdir "dddddddd"; chdir "dddddddd" }'`,
  ),
  'files in a folder that nobody may read': endAtLimit(
    'disk',
    FILL,
    'mkdir h; chmod 300 h; fill h; sleep 10',
  ),
  'deleted files that stay open': endAtLimit('disk', `perl -e ${UNLINKED}`),
  'deleted files of a process that hides them': endAtLimit(
    'disk',
    MAKE_UNREADABLE_COPY,
    `./hidden -e ${UNLINKED}`,
  ),
  'deleted files under way in a socket': {
    ...endAtLimit('disk'),
    requiredTools: ['python3'],
    spec: python(
      `${UNNAMED}
import socket
one, other = socket.socketpair()
for i in range(20):
  try: fd = unnamed()
  except OSError: break
  socket.send_fds(one, [b"x"], [fd]); os.close(fd)
time.sleep(10)
`,
    ),
  },
  'deleted files that are mapped and closed': {
    ...endAtLimit('disk'),
    requiredTools: ['python3'],
    spec: python(
      `${UNNAMED}
import ctypes
mmap = ctypes.CDLL(None).mmap
mmap.restype = ctypes.c_void_p
mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for i in range(20):
  try: fd = unnamed()
  except OSError: break
  assert mmap(None, 4096, 1, 2, fd, 0) > 0; os.close(fd)
time.sleep(10)
`,
    ),
  },
  'outputs that are holes of any length': {
    spec: {
      outputFormat: 'csv-archive',
      files: createShellApp(
        'for i in 1 2 3 4; do truncate -s 20M output/$i 2>/dev/null || dd of=output/$i bs=1 seek=20971520 count=0; done',
      ),
    },
    classify: ({ outcome }) => (outcome.reason === 'output' ? 'bounded' : 'not held'),
  },
  'a log without end': floodLog('yes "a line of the log" >&2'),
  'a line of the log without end': floodLog(`tr '\\0' x < /dev/zero >&2`),
  'stdout without end': endAtLimit('output', 'yes'),
  'SIGTERM ignored': {
    ...endAtLimit('duration', `trap '' TERM; while :; do sleep 0.1; done`),
  },
  'daemons left behind': {
    spec: {
      files: createShellApp(
        `(setsid env -i sh -c "sleep ${daemonSeconds} >/dev/null 2>&1 </dev/null & (sleep ${daemonSeconds} &) &" &) & sleep 0.3`,
      ),
    },
    classify: () => (listProcessesWithArgument(daemonSeconds).length === 0 ? 'bounded' : 'not held'),
  },
  'kill of everything it may (kill -9 -1)': {
    spec: { files: createShellApp(`perl -e 'kill 9, -1; print "alive"'`) },
    // An app without a user of its own could kill runner and launcher: an outcome proves that they live.
    classify: () => 'refused',
  },
  'writing to the files of process 1': {
    spec: {
      files: createShellApp(
        'for n in 3 4 5 10; do head -c 3000000 /dev/zero >> /proc/1/fd/$n; done 2>/dev/null; exit 7',
      ),
    },
    classify: ({ outcome }) => (outcome.exitCode === 7 && outcome.reason === 'exit' ? 'refused' : 'not held'),
  },
  'links, pipes and devices for results': {
    spec: {
      outputFormat: 'multi-file',
      files: createShellApp(
        [
          'cd outputs/solutions; echo real > real; ln -s /etc/passwd link; ln -s /etc folder; mkfifo pipe',
          'mknod device c 1 5 2>/dev/null; mkdir deep; ln -s / deep/root; ln /etc/passwd hard 2>/dev/null',
          'mkfifo ../statistics/statistics.json; ln -s /etc/passwd ../assets/assets.json',
        ].join('\n'),
      ),
    },
    classify: ({ outcome }) => {
      const { solutions, statistics, assets } = outcome;
      const names = solutions && execFileSync('tar', ['-tzf', solutions.path], { encoding: 'utf8' });
      return names === 'real\n' && !statistics && !assets ? 'refused' : 'not held';
    },
  },
  "the server's files, as hard links for results": {
    allowsHardLinks: true,
    spec: {
      outputFormat: 'multi-file',
      files: createShellApp(
        [
          'cd outputs; echo real > solutions/real; ln "$1" solutions/x; ln "$1" assets/assets.json',
          'ln "$1" statistics/statistics.json',
        ].join('\n'),
      ),
    },
    classify: ({ outcome }) => {
      const { solutions, statistics, assets } = outcome;
      const names = solutions && execFileSync('tar', ['-tzf', solutions.path], { encoding: 'utf8' });
      return names === 'real\n' && !statistics && !assets ? 'refused' : 'not held';
    },
  },
  "descriptors that the server's start left open": {
    spec: { files: createShellApp('ls -l /proc/$$/fd | grep -cE "> (/|/etc/passwd)$"') },
    classify: ({ stdout }) => (stdout === '0\n' ? 'refused' : 'not held'),
  },
  'a core file': {
    spec: { files: createShellApp(`ulimit -c; perl -e 'kill "SEGV", $$'; ls | grep -c core`) },
    classify: ({ stdout }) => (stdout === '0\n0\n' ? 'refused' : 'not held'),
  },
  'more rights by setuid programs': reportResult(
    `grep -q 'NoNewPrivs:.1' /proc/self/status && echo refused || echo open`,
  ),
  'mounts, clock, name of the host, sysrq': reportResult(
    'export PATH=$PATH:/usr/sbin:/sbin',
    `mkdir m; { mount -t tmpfs none m || date -s "@$(date +%s)" || hostname "$(hostname)" || echo h > /proc/sysrq-trigger; } >/dev/null 2>&1 && echo open || echo refused`,
  ),
  'namespaces of its own': reportResult('unshare -Ur true 2>/dev/null && echo open || echo refused'),
  'keyrings, bpf, io_uring, userfaultfd, vsock': {
    requiredTools: ['python3'],
    spec: python(
      `import ctypes, platform, socket
call = ctypes.CDLL(None).syscall
arm = platform.machine() == 'aarch64'
got = [n for n in ((219, 280, 425, 282) if arm else (250, 321, 425, 323)) if call(n, 0, -3, 0, 0, 0) >= 0]
try: got.append(socket.socket(40, socket.SOCK_STREAM))
except OSError: pass
errors = ctypes.CDLL(None, use_errno=True); errors.syscall(219 if arm else 250, 0, -3, 0)
print('refused' if not got and ctypes.get_errno() == 1 else got)
`,
    ),
    classify: ({ stdout }) => (stdout === 'refused\n' ? 'refused' : 'not held'),
  },
};

/** Prints until its time is up, although the log is truncated. */
function floodLog(script: string): Attack {
  return {
    spec: { files: createShellApp(script), limits: { durationMs: 500 } },
    classify: ({ outcome, lines }) => {
      const loggedCharacters = lines.reduce((sum, line) => sum + line.text.length, 0);
      // A fast writer reaches the file size limit before the log is truncated.
      const isHeld = outcome.isLogTruncated && (outcome.reason === 'duration' || outcome.reason === 'disk');
      const onDisk = statSync(outcome.stderr.path).size;
      return isHeld && loggedCharacters < 2 * MIB && onDisk <= ATTACK_LIMITS.logBytes
        ? 'bounded'
        : 'not held';
    },
  };
}
