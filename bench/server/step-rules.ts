/** Divides a processor profile of the server into the steps of a request. */

/** The fields of a V8 processor profile that this file reads. */
export interface Profile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string };
    children?: number[];
  }[];
  samples: number[];
  timeDeltas: number[];
}

interface Step {
  name: string;
  /** Files, as the end of a path, or `file:function` for one function of a file. */
  matches: RegExp;
}

/**
 * In the order of the table. A sample belongs to the first step that matches the frame nearest to its leaf. A library
 * therefore counts for its caller, unless the library is a separate step.
 */
export const STEPS: readonly Step[] = [
  {
    name: 'HTTP: sockets, parser, headers (Node)',
    matches:
      /^node:(_http|net|internal\/(streams|stream_base|http|net)|stream|_stream|timers|internal\/timers)|^node:internal\/js_stream|:(writeLatin1String|writeUtf8String|writev|parserOnHeadersComplete)$/,
  },
  {
    name: 'Fastify: routing, hooks, reply',
    matches:
      /node_modules\/(fastify|find-my-way|avvio|@fastify|light-my-request|rfdc|secure-json-parse|fast-[a-z-]*)\//,
  },
  {
    name: 'connections, slow clients, request order',
    matches: /http\/limits\/(connections|slow-clients|fair-request-queue)\.ts/,
  },
  { name: 'memory budgets', matches: /http\/limits\/(budget|request-memory)\.ts/ },
  { name: 'rate limit', matches: /http\/limits\/rate-limit\.ts/ },
  { name: 'authentication', matches: /server\/accounts\/account\// },
  {
    name: 'body: UTF-8, depth, JSON',
    matches: /http\/requests\/(json-body|raw-json)\.ts|node:internal\/encoding/,
  },
  { name: 'validation (Ajv)', matches: /http\/requests\/validation|node_modules\/ajv|^:validate\d*$/ },
  {
    name: 'audit entry',
    matches:
      /server\/accounts\/audit\/|handlers\/audited-actions|node:internal\/async_local_storage|node:async_hooks/,
  },
  { name: 'Idempotency-Key', matches: /handlers\/idempotency/ },
  {
    name: 'request log and metrics',
    matches:
      /http\/metrics\.ts|server\/platform\/log\.ts|node_modules\/(pino|prom-client|sonic-boom)|error-responses\.ts|platform\/http\/server\.ts:observe/,
  },
  { name: 'response: JSON', matches: /http\/send-response\.ts|runs\/api\/run-body\.ts/ },
  { name: 'pipeline of a request (http/server.ts)', matches: /platform\/http\/server\.ts/ },
  {
    name: 'SQLite: execution',
    matches: /sqlite\/sqlite\.ts:(all|run|get|iterate|noting|runStatement)$|:(all|run|get|exec)$/,
  },
  { name: 'PostgreSQL: protocol', matches: /node_modules\/(pg|pg-[a-z]*|postgres-[a-z]*)\// },
  {
    name: 'statements: Kysely, prepared statements',
    matches: /node_modules\/kysely|database\/(prepared-statements|row-locks|postgres)/,
  },
  { name: 'group commit and flush', matches: /database\/sqlite\/|^node:(fs|internal\/fs)/ },
  {
    name: 'handler: resolve, options, formats, input',
    matches:
      /server\/(runs|apps|experiments|platform\/blobs)\/|server\/platform\/(clock|random)\.ts|node:(internal\/)?crypto/,
  },
];

export const OTHER_STEPS = ['garbage collection', 'native, outside of JavaScript', 'other'] as const;

/** Returns the share of each step in the processor time of the profile. The shares add up to 1, without idle time. */
export function sumSteps(profile: Profile): Map<string, number> {
  const steps = new Map<number, string>();
  const parents = new Map<number, number>();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  for (const { id, children } of profile.nodes) for (const child of children ?? []) parents.set(child, id);
  const findStep = (id: number): string => {
    const known = steps.get(id);
    if (known !== undefined) return known;
    const found = matchStep(id);
    steps.set(id, found);
    return found;
  };
  const matchStep = (leaf: number): string => {
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
      const { functionName, url } = nodes.get(id)?.callFrame ?? { functionName: '', url: '' };
      if (functionName === '(garbage collector)') return 'garbage collection';
      if (functionName === '(program)') return 'native, outside of JavaScript';
      if (functionName === '(idle)') return IDLE;
      const frame = `${url}:${functionName}`;
      const step = STEPS.find(({ matches }) => matches.test(url) || matches.test(frame));
      if (step) return step.name;
    }
    return 'other';
  };
  const sums = new Map<string, number>();
  profile.samples.forEach((id, at) => {
    const step = findStep(id);
    // The profiler's deltas are wall time, so a thread that waits for a processor would count as busy.
    const micros = Math.min(profile.timeDeltas[at] ?? 0, DELTA_MAX_MICROS);
    if (step !== IDLE) sums.set(step, (sums.get(step) ?? 0) + micros);
  });
  const total = [...sums.values()].reduce((sum, one) => sum + one, 0);
  return new Map([...sums].map(([step, micros]) => [step, micros / total]));
}

const IDLE = '(idle)';
/** Twice the sampling interval of profiled-server.ts. */
const DELTA_MAX_MICROS = 2000;
