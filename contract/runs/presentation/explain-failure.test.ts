import { expect, test } from 'vitest';
import { explainFailure } from './explain-failure.ts';

const LARGE = 'Give it more memory: The class 8c16gb12h has 16 GB; 6c9500mb870s has 9.5 GB.';

/** The error, the reason in words, and the titles of the steps. */
const cases: [string, string, string[]][] = [
  [
    'The app used 9.6 GB of memory, all its processes together; its limit is 9.5 GB.',
    'It ran out of memory after 41 s: its limit is 9.5 GB.',
    ['Give it more memory', 'Let the app use less'],
  ],
  [
    'The host, or the memory cgroup of the server, had no memory left, and the kernel ended the app.',
    'The server had no memory left. The run was within its own limit.',
    ['Run it again', 'Look at the workers'],
  ],
  [
    'The app ran for its limit of 12 s and was stopped. The output that it had printed is stored.',
    'It reached its time limit of 12 s, and what it had printed is stored.',
    ['Give it more time', 'Let the app stop earlier'],
  ],
  [
    'The app ended with exit code 127.',
    'The app called a command that it could not start (exit code 127).',
    ['Read the end of the log', 'Push the app again'],
  ],
  [
    'The app ended with exit code 2.',
    'The app ended with exit code 2.',
    ['Read the end of the log', 'Check the options'],
  ],
  [
    'The app ended with exit code 3. Note: the disk is slow.',
    'The app ended with exit code 3.',
    ['Read the end of the log', 'Try it with the same input'],
  ],
  [
    'The app ended with exit code 1. Its log shows that it could not reach the network. Runs reach no network unless the configuration of their instance has "network": true.',
    'The app could not reach the network.',
    ['Give the instance a network', 'Read the end of the log'],
  ],
  [
    'The app was ended by signal SIGSEGV (exit status 139).',
    'The app crashed after 41 s (SIGSEGV).',
    ['Read the end of the log', 'Suspect native code'],
  ],
  [
    'The app was ended by signal SIGKILL (exit status 137).',
    'The app was ended from outside after 41 s (SIGKILL).',
    ['Run it again', 'Read the end of the log'],
  ],
  [
    'The app printed text to stdout that is not JSON (it ends at byte 3); stdout must be one JSON object, logs belong on stderr.',
    'The app printed text to stdout that is not JSON (it ends at byte 3); stdout must be one JSON object, logs belong on stderr.',
    ['Print one JSON object', 'Read the end of the log'],
  ],
  [
    'The app printed 600 MiB to stdout; its limit is 500 MiB.',
    'The app printed 600 MiB to stdout; its limit is 500 MiB.',
    ['Print one JSON object', 'Read the end of the log'],
  ],
  [
    'The app wrote 11 GiB to disk; its limit is 10 GiB.',
    'The app wrote 11 GiB to disk; its limit is 10 GiB.',
    ['Let the app write less', 'Read the end of the log'],
  ],
  [
    'The app had 1,030 processes and threads; its limit is 1,024.',
    'The app had 1,030 processes and threads; its limit is 1,024.',
    ['Let the app start fewer'],
  ],
  [
    'The app needs Java 21, which this host does not have.',
    'The worker does not have Java 21.',
    ['Install it on the worker', 'Push the app again'],
  ],
  [
    'The executable has no entry point "main.py" for type python.',
    'The executable has no entry point "main.py" for type python.',
    ['Push the app again'],
  ],
  [
    'The run was started 5 times and each time it was cut short before it ended; the last time: the worker that executed it died.',
    'All 5 attempts were lost; the last time: the worker that executed it died.',
    ['Look at the workers', 'Run it again'],
  ],
  [
    'The input of the run is gone.',
    'The input of the run is gone.',
    ['Create a new run', 'Look at the workers'],
  ],
  [
    'The disk of the host is full: The app ended with exit code 1.',
    'The disk of the host is full: The app ended with exit code 1.',
    ['Look at the workers', 'Run it again'],
  ],
  ['infeasible, says our own cluster', 'infeasible, says our own cluster', ['Read the end of the log']],
  ['', 'The run failed without a reason.', ['Read the end of the log']],
];

const run = { execution_class: '6c9500mb870s', execution_duration: 41_000, duration_limit: 12_000 };

test.each(cases)('%s', (error, title, steps) => {
  const failure = explainFailure({ ...run, error });
  expect(failure.title.replaceAll('\u00a0', ' ')).toBe(title);
  expect(failure.steps.map((step) => step.title)).toEqual(steps);
});

test('offers a larger class only where there is one, and the time of the class before another class', () => {
  const memory = 'The app used 61 GB of memory, all its processes together; its limit is 60 GB.';
  const time = 'The app ran for its limit of 870 s and was stopped.';
  const list = (facts: object, error: string): string[] =>
    explainFailure({ ...run, ...facts, error }).steps.map(({ title, text }) =>
      `${title}: ${text}`.replaceAll('\u00a0', ' '),
    );
  expect(list({}, memory)[0]).toBe(LARGE);
  expect(list({ execution_class: '16c60gb12h' }, memory)[0]).toMatch(/^Let the app use less/);
  expect(list({ memory_limit: 4e9 }, memory)[0]).toBe(
    'Use a worker with more memory: The class 6c9500mb870s allows 9.5 GB; the worker had 4 GB.',
  );
  expect(list({}, time)[0]).toBe(
    'Give it more time: The limit was set to 12 s; the class 6c9500mb870s allows 14 min 30 s.',
  );
  expect(list({ duration_limit: 870_000 }, time)[0]).toMatch(
    /^Give it more time: The class 8c16gb12h has 12 h/,
  );
  expect(list({ duration_limit: undefined, execution_class: 'other' }, time)[0]).toMatch(/^Let the app stop/);
});

const EXIT = 'The app ended with exit code 1.';
test.each<[string, string, string[], string]>([
  [
    'Python',
    EXIT,
    ['Traceback:', '  File "main.py", line 3', 'ValueError: no vehicle'],
    'ValueError: no vehicle',
  ],
  [
    'Node.js',
    EXIT,
    ['Error: no vehicle', '    at main (main.ts:3:9) {', "  code: 'X'", '}', '', 'Node.js v26.10.0'],
    'Error: no vehicle',
  ],
  ['Go', EXIT, ['panic: no vehicle', '', 'goroutine 1 [running]:', 'main.main()'], 'panic: no vehicle'],
  ['Rust', EXIT, ['no vehicle', 'note: run with `RUST_BACKTRACE=1`'], 'no vehicle'],
  ['an app that prints nothing', EXIT, ['', '  '], EXIT],
  ['an unknown option', 'The app ended with exit code 2.', ['error: no option -x'], 'error: no option -x'],
  [
    'an app that the platform ended',
    'The app ran for its limit of 12 s and was stopped.',
    ['iteration 4'],
    'It reached its time limit of 12 s.',
  ],
])(
  "the reason is the app's own last line, not the platform's sentence: %s",
  (_, error, last_lines, title) => {
    const failure = explainFailure({ ...run, error, last_lines });
    expect(failure.title).toBe(title);
    // A part of the platform's sentence that is the title does not stand below it again.
    expect(failure.detail).toBe(last_lines.includes(title) ? error : '');
  },
);

test('a reason of many characters is cut', () => {
  const { title } = explainFailure({ ...run, error: EXIT, last_lines: ['x'.repeat(2_000)] });
  expect(title).toBe(`${'x'.repeat(240)} …`);
});
