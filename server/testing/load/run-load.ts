/**
 * The load of the torture: clients that make runs whose end can be told from their input, and cancel some of them. What
 * the server acknowledged is written down here, outside of it.
 */
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import type { Files } from '../fixtures/apps.ts';
import { sleep } from '../host/sleep.ts';
import type { RequestOptions, TestResponse } from '../http/request.ts';

export const LOAD_APPLICATION = 'load';

/** A shell script, which starts quickly: the machine is to be busy with runs, not with runtimes. */
export const LOAD_APP: Files = {
  main: `#!/bin/sh
IFS= read -r line
value() { rest=\${line#*\\"$1\\":}; rest=\${rest%%,*}; printf '%s' "\${rest%%\\}*}"; }
n=$(value n); ms=$(value ms); exit=$(value exit); pad=$(value pad)
echo "run $n" >&2
[ "$ms" -gt 0 ] && sleep "$(printf '0.%03d' "$ms")"
if [ "$exit" -gt 0 ]; then echo "meant to fail" >&2; exit "$exit"; fi
printf '{"n":%d,"assets":[{"name":"n","content":%d}],"statistics":{"schema":"v1","result":{"value":%d}},"pad":"%s"}' "$n" "$n" "$((n * n))" "$(head -c "$pad" /dev/zero | tr '\\0' x)"
`,
};

export const MEMORY_HOG = 'hoard';

/** Takes memory until it is ended; a tenth of it lies in sockets, where no process shows it. */
export const MEMORY_HOG_APP: Files = {
  main: `#!/bin/sh
exec perl -e 'use Socket; for (1..20000) {
  if (socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC)) { syswrite($a, "x" x 100000); push @kept, $a, $b }
  push @kept, "x" x 1000000; select(undef, undef, undef, 0.001);
}'
`,
};

/** All its runs report the same, so the first of them that succeeds is the best; its output is what the input gives. */
export const LOAD_ENSEMBLE = {
  id: 'any-of-three',
  name: 'Any of three',
  run_groups: [{ id: 'alike', instance_id: 'latest', repetitions: 3 }],
  rules: [{ id: 'value', statistics_path: 'result.value', objective: 'minimize', index: 0 }],
};

export interface LoadInput {
  n: number;
  ms: number;
  exit: number;
  pad: number;
}

/** A run the server has answered 202 for. */
export interface AcknowledgedRun {
  id: string;
  input: LoadInput;
  /** Whether a cancel was sent; it may have come after the end. */
  isCancelRequested: boolean;
  /** When it was, by `performance.now()`. */
  createdAt: number;
  /** When it was seen to have ended; a run that nobody has looked at since may have ended at any time. */
  endedAt?: number;
  /** Whether it is the run of an ensemble: its app is that of the runs it consists of. */
  isEnsemble: boolean;
}

/** Output as the app computes it. */
export function expectedOutput({ n, pad }: LoadInput): object {
  return {
    n,
    assets: [{ name: 'n', content: n }],
    statistics: { schema: 'v1', result: { value: n * n } },
    pad: 'x'.repeat(pad),
  };
}

/** The server as clients see it while it comes and goes. */
export interface RequestTarget {
  /** Waits until a server is up; throws when the connection breaks. */
  request(method: string, path: string, ask?: RequestOptions): Promise<TestResponse>;
}

export class RunLoad {
  readonly acknowledgedRuns: AcknowledgedRun[] = [];
  /** Requests whose answer never came: what they asked for may have been done or not. */
  unanswered = 0;
  cancels = 0;
  readonly rejections: string[] = [];
  readonly #target: RequestTarget;
  readonly #instances: readonly string[];
  #count = 0;
  #stopped = false;

  /** `instances` are what runs are made of, by chance. */
  constructor(target: RequestTarget, instances: readonly string[]) {
    this.#target = target;
    this.#instances = instances;
  }

  /**
   * Makes runs, one after the other, until it is stopped. Mostly it waits for the end of one before the next: the queue
   * would otherwise grow by hundreds a second, and what is tried is dying at work, not a long queue.
   */
  async createRuns(): Promise<void> {
    while (!this.#stopped) {
      const input = this.#nextInput();
      const made = await this.#create(input);
      if (made && Math.random() < 0.1) await this.#cancel(made);
      if (made && Math.random() < 0.95) await this.#end(made);
      await sleep(Math.random() * 40);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  #nextInput(): LoadInput {
    this.#count += 1;
    return {
      n: this.#count,
      ms: Math.random() < 0.5 ? 0 : Math.floor(Math.random() * 300),
      exit: Math.random() < 0.1 ? 3 : 0,
      // Some outputs lie in the database and some are blobs.
      pad: Math.random() < 0.05 ? 100_000 : 10,
    };
  }

  async #create(input: LoadInput): Promise<AcknowledgedRun | null> {
    const queuing = Math.random() < 0.3 ? { priority: 1 + Math.floor(Math.random() * 9) } : {};
    const ensemble = Math.random() < 0.15;
    const type = ensemble ? { run_type: { type: 'ensemble', definition_id: LOAD_ENSEMBLE.id } } : {};
    const body = { input, configuration: { queuing, ...type } };
    const instance = this.#instances[Math.floor(Math.random() * this.#instances.length)];
    const path = `/v1/applications/${LOAD_APPLICATION}/runs?instance_id=${instance}`;
    const answer = await this.#try('POST', path, { body });
    if (!answer) return null;
    if (answer.status !== 202) {
      this.rejections.push(`${answer.status} ${answer.text.slice(0, 200)}`);
      return null;
    }
    const id = (answer.body as { run_id: string }).run_id;
    const made: AcknowledgedRun = {
      id,
      input,
      createdAt: performance.now(),
      isCancelRequested: false,
      isEnsemble: ensemble,
    };
    this.acknowledgedRuns.push(made);
    return made;
  }

  /** Asks for the run until it has ended, as clients do, also while the server is away. */
  async #end(run: AcknowledgedRun): Promise<void> {
    while (!this.#stopped) {
      const answer = await this.#try('GET', `/v1/applications/${LOAD_APPLICATION}/runs/${run.id}/metadata`);
      const status = (answer?.body as { status_v2?: RunStatusV2 } | undefined)?.status_v2;
      if (status !== undefined && isTerminal(status)) {
        run.endedAt = performance.now();
        return;
      }
      await sleep(50 + Math.random() * 100);
    }
  }

  async #cancel(run: AcknowledgedRun): Promise<void> {
    await sleep(Math.random() * 300);
    run.isCancelRequested = true;
    this.cancels += 1;
    const answer = await this.#try('PATCH', `/v1/applications/${LOAD_APPLICATION}/runs/${run.id}/cancel`);
    if (answer && answer.status !== 204)
      this.rejections.push(`cancel ${answer.status} ${answer.text.slice(0, 200)}`);
  }

  async #try(method: string, path: string, ask?: RequestOptions): Promise<TestResponse | null> {
    try {
      return await this.#target.request(method, path, ask);
    } catch {
      this.unanswered += 1;
      await sleep(100);
      return null;
    }
  }
}
