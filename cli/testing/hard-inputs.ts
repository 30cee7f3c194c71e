/** Inputs of the solver templates that no solver proves optimal in a few seconds. Each has a plan that is found at once. */

/** Returns whole numbers from low to high that look random, the same in each run. */
function createNumbers(): (low: number, high: number) => number {
  let state = 1;
  return (low, high) => {
    state = (state * 48_271) % 2_147_483_647;
    return low + (state % (high - low + 1));
  };
}

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const draw = createNumbers();
const drawPlace = () => [draw(0, 100), draw(0, 100)];

/** Inputs by template. */
export const HARD_INPUTS: Record<string, object> = {
  cpp: {
    demand: list(48, () => draw(900, 1800)),
    plants: list(30, (i) => {
      const min_power = draw(20, 60);
      const max_power = min_power + draw(10, 80);
      const costs = { hour_cost: draw(50, 300), power_cost: draw(10, 30), start_cost: draw(100, 900) };
      return { id: `p${i}`, min_power, max_power, ...costs };
    }),
  },
  java: {
    workers: list(30, (i) => ({ id: `w${i}`, hours: 147 })),
    tasks: list(200, (i) => ({
      id: `t${i}`,
      hours: draw(10, 35),
      cost: Object.fromEntries(list(30, (worker) => [`w${worker}`, draw(100, 999)])),
    })),
  },
  'python-highs': {
    warehouses: list(40, (i) => ({
      id: `w${i}`,
      location: drawPlace(),
      capacity: draw(60, 100),
      cost: draw(900, 1500),
    })),
    customers: list(150, (i) => ({ id: `c${i}`, location: drawPlace(), demand: draw(4, 14) })),
  },
  'python-ortools': {
    jobs: list(20, (i) => ({
      id: `j${i}`,
      tasks: list(15, () => ({ machine: `m${draw(0, 14)}`, duration: draw(1, 99) })),
    })),
  },
  'python-pyomo': {
    weeks: 26,
    hours_per_week: 230,
    products: list(12, (i) => ({
      id: `p${i}`,
      demand: list(26, () => draw(0, 30)),
      initial_stock: 30,
      hours_per_unit: 1,
      setup_hours: draw(3, 9),
      setup_cost: draw(80, 160),
      stock_cost: draw(1, 4),
    })),
  },
  'python-pyvrp': {
    depot: { location: [50, 50] },
    vehicles: 40,
    capacity: 60,
    customers: list(200, (i) => ({ id: `c${i}`, location: drawPlace(), demand: draw(1, 10) })),
  },
};
