/** The sample apps, for the gallery and for the list of community apps. */

/** A sample app. */
export interface Sample {
  /** Folder of the app below `sample-apps`. */
  folder: string;
  /** Id of the application that it becomes. */
  id: string;
  name: string;
  description: string;
}

/** The sample apps, the best first. */
export const SAMPLES: readonly Sample[] = [
  {
    folder: 'vehicle-routing',
    id: 'routing',
    name: 'Vehicle routing',
    description: 'Plans tours with time windows, and draws them on a map.',
  },
  {
    folder: 'shift-scheduling',
    id: 'shifts',
    name: 'Shift scheduling',
    description: 'Assigns people to shifts with an integer program.',
  },
  {
    folder: 'bin-packing',
    id: 'packing',
    name: 'Bin packing',
    description: 'Packs items into the fewest bins, with a bound.',
  },
  {
    folder: 'knapsack-python',
    id: 'knapsack',
    name: 'Knapsack in Python',
    description: 'Chooses projects within a budget.',
  },
  {
    folder: 'order-batching-native',
    id: 'batching',
    name: 'Order batching',
    description: 'Groups the orders of a warehouse, as a native program.',
  },
];
