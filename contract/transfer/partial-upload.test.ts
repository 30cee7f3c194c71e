/** The requests of an upload in parts, for each way in which a connection can fail. */
import { expect, test } from 'vitest';
import { ApiError } from '../client.ts';
import { formatPartHeaders, PART_BYTES, PartialUpload, type UploadPart } from './partial-upload.ts';
import { growPauses, retry } from './retry.ts';

const LOST = new Error('lost');
const SIZE = 2.5 * PART_BYTES;
const [FIRST, SECOND] = [PART_BYTES, 2 * PART_BYTES];

/** The failure of a request: the number of its bytes that the server stores before the connection is lost, or its status. */
type Failure = { storedBytes: number } | { status: number };

/** A server in memory, whose requests to append fail in turn. */
class MemoryTarget {
  readonly requests: string[] = [];
  readonly #failures: (Failure | null)[];
  #stored = 0;
  #isComplete = false;

  constructor(failures: readonly (Failure | null)[]) {
    this.#failures = [...failures];
  }

  async append(part: UploadPart): Promise<void> {
    const { bytes, offset, isLast } = part;
    this.requests.push(`append ${offset}-${offset + bytes.size}${isLast ? ' last' : ''}`);
    const failure = this.#failures.shift();
    if (failure && 'status' in failure) throw new ApiError('appendUpload', failure.status, 'refused');
    if (this.#isComplete) throw new ApiError('appendUpload', 400, 'used already');
    if (offset !== this.#stored) throw new ApiError('appendUpload', 409, 'another offset');
    this.#stored += failure?.storedBytes ?? bytes.size;
    this.#isComplete = isLast && this.#stored === SIZE;
    if (failure) throw LOST;
  }

  async readState() {
    this.requests.push(`read ${this.#stored}`);
    return { offset: this.#stored, complete: this.#isComplete };
  }
}

async function send(target: MemoryTarget, isContinued = false): Promise<{ pauses: number[] }> {
  const pauses: number[] = [];
  const upload = new PartialUpload(new Blob([new Uint8Array(SIZE)]), target, { isContinued });
  while (!upload.isComplete)
    await retry(() => upload.sendNextPart(), {
      signal: new AbortController().signal,
      pauses: growPauses(3),
      isTransient: (error) => error === LOST,
      wait: async (pauseMs) => void pauses.push(pauseMs),
    });
  return { pauses };
}

const REST = [`append ${FIRST}-${SECOND}`, `append ${SECOND}-${SIZE} last`];
const WHOLE = [`append 0-${FIRST}`, ...REST];

test.each<{ title: string; failures: (Failure | null)[]; requests: string[]; pauses?: number[] }>([
  { title: 'without a failure, asks for no offset', failures: [], requests: WHOLE },
  {
    title: 'continues in the middle of the part that was cut',
    failures: [null, { storedBytes: 5 }],
    requests: [
      ...WHOLE.slice(0, 2),
      `read ${FIRST + 5}`,
      `append ${FIRST + 5}-${SECOND + 5}`,
      `append ${SECOND + 5}-${SIZE} last`,
    ],
    pauses: [500],
  },
  {
    title: 'sends no part again whose response alone was lost',
    failures: [{ storedBytes: PART_BYTES }],
    requests: [`append 0-${FIRST}`, `read ${FIRST}`, ...REST],
    pauses: [500],
  },
  {
    title: 'ends after a last part whose response was lost',
    failures: [null, null, { storedBytes: PART_BYTES / 2 }],
    requests: [...WHOLE, `read ${SIZE}`],
    pauses: [500],
  },
  {
    title: 'pauses longer while nothing is stored, and less again after a stored byte',
    failures: [{ storedBytes: 0 }, { storedBytes: 0 }, { storedBytes: PART_BYTES }, { storedBytes: 0 }],
    requests: [
      ...[`append 0-${FIRST}`, 'read 0', `append 0-${FIRST}`, 'read 0', `append 0-${FIRST}`, `read ${FIRST}`],
      ...[`append ${FIRST}-${SECOND}`, `read ${FIRST}`, ...REST],
    ],
    pauses: [500, 1000, 2000, 500],
  },
])('$title', async ({ failures, requests, pauses = [] }) => {
  const target = new MemoryTarget(failures);
  expect(await send(target)).toEqual({ pauses });
  expect(target.requests).toEqual(requests);
});

test.each<[number, string[]]>([
  [400, [`append 0-${FIRST}`, 'read 0']],
  [403, [`append 0-${FIRST}`]],
  [409, [`append 0-${FIRST}`, 'read 0']],
])('a %i that no stored byte explains is final', async (status, requests) => {
  const target = new MemoryTarget([{ status }]);
  await expect(send(target)).rejects.toMatchObject({ status });
  expect(target.requests).toEqual(requests);
});

test('an upload that was begun earlier asks first, and a complete one sends nothing', async () => {
  const target = new MemoryTarget([null, { storedBytes: 5 }, { status: 403 }]);
  await expect(send(target)).rejects.toMatchObject({ status: 403 });
  target.requests.length = 0;
  await send(target, true);
  expect(target.requests.slice(0, 2)).toEqual([`read ${FIRST + 5}`, `append ${FIRST + 5}-${SECOND + 5}`]);
  target.requests.length = 0;
  await send(target, true);
  expect(target.requests).toEqual([`read ${SIZE}`]);
});

test('a server that stays away is an error after the last pause', async () => {
  const target = new MemoryTarget(Array.from({ length: 9 }, () => ({ storedBytes: 0 })));
  await expect(send(target)).rejects.toBe(LOST);
  expect(target.requests.filter((request) => request.startsWith('append'))).toHaveLength(4);
});

test('the last part has a mark', () => {
  const part = { bytes: new Blob(['abc']), offset: 5, isLast: true, length: 8 };
  expect(formatPartHeaders(part)).toEqual({
    'upload-offset': '5',
    'upload-complete': '?1',
    'upload-length': '8',
  });
});
