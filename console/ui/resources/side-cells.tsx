import { formatSides } from '@switchyard/contract/presentation/format-quantity.ts';
import table from '../table.module.css';

/** A cell for each of the values, which are compared: those that differ have texts that differ. A dash stands for none. */
export function SideCells({ values }: { values: readonly (number | null | undefined)[] }) {
  return formatSides(values).map((text, side) => (
    <td key={side} className={table.number}>
      {text}
    </td>
  ));
}
