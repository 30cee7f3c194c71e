/** Why a run failed and what to do about it, from the error that the platform wrote. Pure. */
import { CLASS_LIMITS, EXECUTION_CLASSES } from '../../execution-classes.ts';
import { formatBytes, formatDuration } from '../../presentation/format-quantity.ts';

/** What a step leads to. */
export type StepTarget = 'run-again' | 'log' | 'resources' | 'input' | 'output' | 'instance' | 'workers';

/** One thing to do. */
interface Step {
  title: string;
  text: string;
  target?: StepTarget;
}

/** A failure in a person's words. */
export interface Failure {
  /** The reason in one sentence. */
  title: string;
  /** What the reason does not say yet; empty for nothing. */
  detail: string;
  steps: readonly Step[];
}

/** The facts of a failed run. */
export interface FailedRun {
  error: string;
  execution_class: string;
  /** Milliseconds that the app ran. */
  execution_duration: number;
  /** The limit of its time in milliseconds, if it is known. */
  duration_limit?: number | undefined;
  /** The limit of its memory, which is that of its class or of a smaller host. */
  memory_limit?: number | undefined;
  /** The last lines on standard error. */
  last_lines?: readonly string[] | undefined;
}

interface Cause {
  pattern: RegExp;
  /** true: the app has ended itself, so its own last words are the reason. */
  isOwnEnd?: true;
  /** Gets the groups of the pattern. The default is the first sentence of the error. */
  title?(run: FailedRun, groups: readonly string[]): string;
  detail?(groups: readonly string[], error: string): string;
  steps(run: FailedRun, groups: readonly string[]): Step[];
}

const READ_LOG: Step = {
  title: 'Read the end of the log',
  text: 'What an app prints to stderr before it ends usually names the reason.',
  target: 'log',
};
const PUSH: Step = {
  title: 'Push the app again',
  text: 'Correct its files or its app.yaml. This run keeps what it was created with.',
};
const RETRY: Step = {
  title: 'Run it again',
  text: 'Neither the input nor the options are the cause.',
  target: 'run-again',
};
const WORKERS: Step = {
  title: 'Look at the workers',
  text: 'An administrator sees there which of them answer, and what they have.',
  target: 'workers',
};
const USE_LESS: Step = {
  title: 'Let the app use less',
  text: 'The resources of the run show when it grew.',
  target: 'resources',
};

/** The causes that the platform knows by the words of its errors; the first one that fits counts. */
const CAUSES: readonly Cause[] = [
  {
    pattern: /could not reach the network\. Runs reach no network unless/,
    title: () => 'The app could not reach the network.',
    detail: (_, error) => readFirstSentence(error),
    steps: () => [
      {
        title: 'Give the instance a network',
        text: 'Runs reach none unless the configuration of their instance has "network": true.',
        target: 'instance',
      },
      READ_LOG,
    ],
  },
  {
    pattern: /^The app used (.+) of memory, .*its limit is (.+?)\.(?= |$)/,
    title: ({ execution_duration: ran }, [, limit]) =>
      `It ran out of memory after ${formatDuration(ran)}: its limit is ${limit}.`,
    detail: ([used]) => `All its processes together used ${used}.`,
    steps: (run) => [...listLargerClasses(run, 'memory_bytes'), USE_LESS],
  },
  {
    pattern: /^The host, or the memory cgroup of the server, had no memory left/,
    title: () => 'The server had no memory left. The run was within its own limit.',
    steps: () => [RETRY, { ...WORKERS, text: 'Fewer slots, or smaller classes, leave more for each run.' }],
  },
  {
    pattern: /^The app ran for its limit of (.+?) and was stopped\.( The output)?/,
    title: (_, [limit, output]) =>
      `It reached its time limit of ${limit}${output ? ', and what it had printed is stored' : ''}.`,
    steps: (run) => [
      ...listLongerLimits(run),
      {
        title: 'Let the app stop earlier',
        text: 'Set its own limit below that of the run, or let it print its best output on SIGTERM: it has 5 s.',
        target: 'run-again',
      },
    ],
  },
  {
    pattern: /^The app ended with exit code (126|127)\b/,
    title: (_, [code]) => `The app called a command that it could not start (exit code ${code}).`,
    steps: () => [READ_LOG, { ...PUSH, text: 'The command must be in the executable or in its runtime.' }],
  },
  {
    pattern: /^The app ended with exit code 2\b/,
    isOwnEnd: true,
    steps: () => [
      READ_LOG,
      {
        title: 'Check the options',
        text: 'Many programs end with exit code 2 when they do not know an option or its value.',
        target: 'run-again',
      },
    ],
  },
  {
    pattern: /^The app ended with exit code (\d+)/,
    isOwnEnd: true,
    steps: () => [
      READ_LOG,
      {
        title: 'Try it with the same input',
        text: 'Download the input, and run the app on your machine.',
        target: 'input',
      },
    ],
  },
  {
    pattern: /^The app was ended by signal (SIGSEGV|SIGBUS|SIGILL|SIGABRT|SIGFPE)/,
    title: ({ execution_duration: ran }, [signal]) =>
      `The app crashed after ${formatDuration(ran)} (${signal}).`,
    steps: () => [
      READ_LOG,
      {
        title: 'Suspect native code',
        text: 'A library with a fault, or one for another processor, ends so. Go back to the version before it.',
      },
    ],
  },
  {
    pattern: /^The app was ended by signal (\w+)/,
    title: ({ execution_duration: ran }, [signal]) =>
      `The app was ended from outside after ${formatDuration(ran)} (${signal}).`,
    steps: () => [RETRY, { ...READ_LOG, text: 'The app may have ended itself, or a process of its own.' }],
  },
  {
    pattern:
      /^The app printed (?:text|JSON) to stdout|^The app printed .+ to stdout; its limit|^The output (?:has|is) /,
    steps: () => [
      {
        title: 'Print one JSON object',
        text: 'It is the only text that belongs on stdout. Everything else belongs on stderr, which is the log.',
        target: 'output',
      },
      READ_LOG,
    ],
  },
  { pattern: /^The app's solutions /, steps: () => [PUSH, READ_LOG] },
  {
    pattern: /^The app (?:wrote .+ to disk|made more than|nested its folders|kept files|made a folder)/,
    steps: () => [{ ...USE_LESS, title: 'Let the app write less' }, READ_LOG],
  },
  {
    pattern: /^The app had \d[\d,]* processes and threads/,
    steps: () => [
      { ...USE_LESS, title: 'Let the app start fewer', text: 'Give its solver a number of threads.' },
    ],
  },
  {
    pattern: /^The app needs (.+?), which this host does not have/,
    title: (_, [runtime]) => `The worker does not have ${runtime}.`,
    steps: () => [
      { ...WORKERS, title: 'Install it on the worker' },
      { ...PUSH, text: 'Or name a runtime in app.yaml that the workers have.' },
    ],
  },
  {
    pattern:
      /^The executable has no entry point|^The entry point |of the manifest is not a path|is outside the executable|^The working directory|^The secret file location|[Aa]rchive/,
    steps: () => [PUSH],
  },
  {
    pattern: /^The run was started (\d+) times .*?the last time: (.+)$/s,
    title: (_, [times, reason]) => `All ${times} attempts were lost; the last time: ${reason}`,
    steps: () => [WORKERS, { ...RETRY, text: 'The app did not fail: each time something else ended it.' }],
  },
  {
    pattern: /^The (?:executable|input) .*(?:is gone|cannot be read)/,
    steps: () => [
      {
        title: 'Create a new run',
        text: 'What this run was created with is no longer readable.',
        target: 'run-again',
      },
      WORKERS,
    ],
  },
  {
    pattern:
      /^The disk of the host is full|^The host could not|containment could not be set up|could not be killed/,
    steps: () => [WORKERS, RETRY],
  },
];

/**
 * Returns the failure in words. The reason of an app that ended itself is its own last line on standard error. An error that
 * the platform did not write, such as that of an external run, stands as it is.
 */
export function explainFailure(run: FailedRun): Failure {
  const cause = CAUSES.find(({ pattern }) => pattern.test(run.error));
  if (!cause)
    return { title: run.error || 'The run failed without a reason.', detail: '', steps: [READ_LOG] };
  const { pattern, title, detail, steps, isOwnEnd } = cause;
  const groups = pattern.exec(run.error)?.slice(1) ?? [];
  const reason = isOwnEnd && findReason(run.last_lines ?? []);
  const all = steps(run, groups);
  // The log is read already.
  if (reason) return { title: reason, detail: run.error, steps: all.filter((step) => step !== READ_LOG) };
  const first = readFirstSentence(run.error);
  return {
    title: title?.(run, groups) ?? first,
    detail: detail?.(groups, run.error) ?? (title ? '' : run.error.slice(first.length).trim()),
    steps: all,
  };
}

const REASON_CHARS_MAX = 240;
/** Frames of a stack, the rest of an object, and what Node.js and Rust add after the reason. */
const NO_REASON = /^\s|^[^\p{L}\p{N}]*$|^Node\.js v\d|^note: /u;
/** The word that begins the reason in Go, which lists its goroutines after it. */
const GO_PANIC = /^panic: /;

/** Returns the last line that names a reason, such as `ValueError: no vehicle`; undefined for none. */
function findReason(lines: readonly string[]): string | undefined {
  const isReason = (line: string): boolean => !NO_REASON.test(line);
  const line = lines.findLast((one) => GO_PANIC.test(one)) ?? lines.findLast(isReason);
  if (line === undefined || line.length <= REASON_CHARS_MAX) return line?.trim();
  return `${line.slice(0, REASON_CHARS_MAX)} …`;
}

const readFirstSentence = (error: string): string => /^.+?\.(?= |$)/s.exec(error)?.[0] ?? error;

/** Returns the step to a class with more. A host that is smaller than the class is the limit itself. */
function listLargerClasses(run: FailedRun, limit: 'memory_bytes' | 'duration_ms'): Step[] {
  const { execution_class: own } = run;
  const present = EXECUTION_CLASSES.find((name) => name === own);
  const amount = limit === 'memory_bytes' ? formatBytes : formatDuration;
  const had = limit === 'memory_bytes' ? run.memory_limit : undefined;
  if (present && had !== undefined && had < CLASS_LIMITS[present][limit])
    return [
      {
        ...WORKERS,
        title: 'Use a worker with more memory',
        text: `The class ${own} allows ${amount(CLASS_LIMITS[present][limit])}; the worker had ${amount(had)}.`,
      },
    ];
  const larger =
    present && EXECUTION_CLASSES.find((name) => CLASS_LIMITS[name][limit] > CLASS_LIMITS[present][limit]);
  if (!larger) return [];
  return [
    {
      title: limit === 'memory_bytes' ? 'Give it more memory' : 'Give it more time',
      text: `The class ${larger} has ${amount(CLASS_LIMITS[larger][limit])}; ${own} has ${amount(CLASS_LIMITS[present][limit])}.`,
      target: 'run-again',
    },
  ];
}

/** A limit of the run itself can be raised to that of its class; that of the class needs a larger one. */
function listLongerLimits(run: FailedRun): Step[] {
  const ofClass = EXECUTION_CLASSES.find((name) => name === run.execution_class);
  const most = ofClass && CLASS_LIMITS[ofClass].duration_ms;
  if (most === undefined || run.duration_limit === undefined || run.duration_limit >= most)
    return listLargerClasses(run, 'duration_ms');
  return [
    {
      title: 'Give it more time',
      text: `The limit was set to ${formatDuration(run.duration_limit)}; the class ${run.execution_class} allows ${formatDuration(most)}.`,
      target: 'run-again',
    },
  ];
}
