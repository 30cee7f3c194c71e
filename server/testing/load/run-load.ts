/**
 * The load of the chaos test: clients that create runs and cancel some of them. The input of each run determines its
 * outcome. The load records the acknowledged runs, because the server under test may lose them.
 */
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import type { Files } from '../fixtures/apps.ts';
import { sleep } from '../host/sleep.ts';
import type { RequestOptions, TestResponse } from '../http/request.ts';

export const LOAD_APPLICATION = 'load';

/** A shell script, so that the machine executes many runs and does not spend its time on the start of a runtime. */
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

/** Allocates memory until it is killed; a tenth of it is in sockets, where no process reports it. */
export const MEMORY_HOG_APP: Files = {
  main: `#!/bin/sh
exec perl -e 'use Socket; for (1..20000) {
  if (socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC)) { syswrite($a, "x" x 100000); push @kept, $a, $b }
  push @kept, "x" x 1000000; select(undef, undef, undef, 0.001);
}'
`,
};

/** All its child runs report the same value, so the first that succeeds is the best, with the expected output of the input. */
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

/** A run for which the server has sent a 202. */
export interface AcknowledgedRun {
  id: string;
  input: LoadInput;
  /** True once a cancel is sent, perhaps after the end of the run. */
  isCancelRequested: boolean;
  /** The time of its creation, by `performance.now()`. */
  createdAt: number;
  /** The time of the first response with a terminal status; absent for a run without such a response. */
  endedAt?: number;
  /** True for an ensemble run, whose app is that of its child runs. */
  isEnsemble: boolean;
}

/** Computes the output of the app for an input. */
export function expectedOutput({ n, pad }: LoadInput): object {
  return {
    n,
    assets: [{ name: 'n', content: n }],
    statistics: { schema: 'v1', result: { value: n * n } },
    pad: 'x'.repeat(pad),
  };
}

/** The server from the view of a client, while faults stop and start it. */
export interface RequestTarget {
  /** Waits until a server listens and sends the request; throws when the connection breaks. */
  request(method: string, path: string, options?: RequestOptions): Promise<TestResponse>;
}

/** Creates runs until `stop`, and counts acknowledged, rejected and unanswered requests. */
export class RunLoad {
  readonly acknowledgedRuns: AcknowledgedRun[] = [];
  /** The number of requests without a response; they may have taken effect. */
  unanswered = 0;
  cancels = 0;
  readonly rejections: string[] = [];
  readonly #target: RequestTarget;
  readonly #instances: readonly string[];
  #count = 0;
  #isStopped = false;

  /** Each run uses one of the instances, chosen at random. */
  constructor(target: RequestTarget, instances: readonly string[]) {
    this.#target = target;
    this.#instances = instances;
  }

  /**
   * Creates runs, one after the other, until it is stopped. It usually waits for the end of a run before the next one.
   * Otherwise the queue would grow by hundreds a second, and the test is about faults during execution.
   */
  async createRuns(): Promise<void> {
    while (!this.#isStopped) {
      const input = this.#nextInput();
      const created = await this.#create(input);
      if (created && Math.random() < 0.1) await this.#cancel(created);
      if (created && Math.random() < 0.95) await this.#waitForEnd(created);
      await sleep(Math.random() * 40);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  #nextInput(): LoadInput {
    this.#count += 1;
    return {
      n: this.#count,
      ms: Math.random() < 0.5 ? 0 : Math.floor(Math.random() * 300),
      exit: Math.random() < 0.1 ? 3 : 0,
      // Some outputs are stored in the database and some as blobs.
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
    const response = await this.#send('POST', path, { body });
    if (!response) return null;
    if (response.status !== 202) {
      this.rejections.push(`${response.status} ${response.text.slice(0, 200)}`);
      return null;
    }
    const id = (response.body as { run_id: string }).run_id;
    const created: AcknowledgedRun = {
      id,
      input,
      createdAt: performance.now(),
      isCancelRequested: false,
      isEnsemble: ensemble,
    };
    this.acknowledgedRuns.push(created);
    return created;
  }

  /** Polls the run until it has ended, as clients do, also while the server is unavailable. */
  async #waitForEnd(run: AcknowledgedRun): Promise<void> {
    while (!this.#isStopped) {
      const response = await this.#send(
        'GET',
        `/v1/applications/${LOAD_APPLICATION}/runs/${run.id}/metadata`,
      );
      const status = (response?.body as { status_v2?: RunStatusV2 } | undefined)?.status_v2;
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
    const response = await this.#send('PATCH', `/v1/applications/${LOAD_APPLICATION}/runs/${run.id}/cancel`);
    if (response && response.status !== 204)
      this.rejections.push(`cancel ${response.status} ${response.text.slice(0, 200)}`);
  }

  async #send(method: string, path: string, options?: RequestOptions): Promise<TestResponse | null> {
    try {
      return await this.#target.request(method, path, options);
    } catch {
      this.unanswered += 1;
      await sleep(100);
      return null;
    }
  }
}
