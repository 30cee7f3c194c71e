/** Bin packing: put orders into as few boxes of one capacity as possible. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** Small generator of random numbers from 0 to 1 (mulberry32), so that equal seeds give equal results. */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Puts each order into the first box that has space for it, in this order. */
function packFirstFit(orders, capacity) {
  const boxes = [];
  for (const order of orders) {
    let box = boxes.find(({ load }) => load + order.size <= capacity);
    if (!box) {
      box = { load: 0, orders: [] };
      boxes.push(box);
    }
    box.load += order.size;
    box.orders.push(order);
  }
  return boxes;
}

/** Full boxes are worth more than half full ones, so the search empties boxes step by step. */
const score = (boxes) => boxes.reduce((sum, { load }) => sum - load * load, 0);

/** Repacks two to four random boxes in a random order, the larger orders rather first, and keeps what is not worse. */
function search(orders, capacity, { duration, iterations, seed }, report) {
  const random = createRandom(seed);
  const deadline = performance.now() + duration * 1000;
  const bound = Math.ceil(orders.reduce((sum, { size }) => sum + size, 0) / capacity);
  let boxes = packFirstFit(orders, capacity);
  report(boxes.length, bound);
  let moves = 0;
  while (boxes.length > bound && moves < iterations && performance.now() < deadline) {
    moves += 1;
    const shuffled = boxes.map((box) => ({ box, key: random() })).sort((a, b) => a.key - b.key);
    const chosen = shuffled.slice(0, 2 + Math.floor(random() * 3)).map(({ box }) => box);
    const noise = random() * capacity;
    const ranked = chosen
      .flatMap((box) => box.orders)
      .map((order) => ({ order, key: order.size + noise * random() }))
      .sort((a, b) => b.key - a.key);
    const repacked = packFirstFit(
      ranked.map(({ order }) => order),
      capacity,
    );
    if (repacked.length > chosen.length || score(repacked) > score(chosen)) continue;
    const before = boxes.length;
    boxes = [...shuffled.slice(chosen.length).map(({ box }) => box), ...repacked];
    if (boxes.length < before) report(boxes.length, bound);
  }
  return { boxes, bound, moves };
}

const { values } = parseArgs({
  // The server passes "-name value"; parseArgs reads "--name value".
  args: process.argv.slice(2).map((arg) => (/^-[a-z]/.test(arg) ? `-${arg}` : arg)),
  options: {
    duration: { type: 'string', default: '2' },
    iterations: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
});
const options = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
const { capacity, orders } = JSON.parse(readFileSync(0, 'utf8'));
const tooLarge = orders.find(({ size }) => size > capacity);
if (tooLarge) {
  console.error(
    `The order ${tooLarge.id} has the size ${tooLarge.size}; a box has the capacity ${capacity}.`,
  );
  const statistics = { schema: 'v1', result: { custom: { status: 'infeasible' } } };
  console.log(JSON.stringify({ options, solution: null, statistics }));
  process.exit(0);
}
console.error(`Packing ${orders.length} orders into boxes of capacity ${capacity}.`);

const started = performance.now();
const elapsed = () => Math.round(performance.now() - started) / 1000;
const points = [];
const { boxes, bound, moves } = search(orders, capacity, options, (count, lowest) => {
  points.push({ x: elapsed(), y: count });
  console.error(JSON.stringify({ series: { objective: count, bound: lowest } }));
});
const load = boxes.reduce((sum, box) => sum + box.load, 0);
console.log(
  JSON.stringify({
    options,
    solution: { boxes: boxes.map((box) => ({ load: box.load, orders: box.orders.map(({ id }) => id) })) },
    statistics: {
      schema: 'v1',
      run: { duration: elapsed(), iterations: moves },
      result: {
        value: boxes.length,
        custom: {
          bound,
          is_optimal: boxes.length === bound,
          fill: boxes.length ? load / (boxes.length * capacity) : 0,
        },
      },
      series_data: { value: { name: 'boxes', data_points: points } },
    },
  }),
);
