import type { ReactNode } from 'react';
import table from '../table.module.css';

interface TableHeadProps {
  texts?: readonly string[];
  numbers?: readonly string[];
  /** A last cell, such as an empty one above buttons. */
  children?: ReactNode;
}

/** The head of a table: columns of texts, then columns of numbers. */
export function TableHead({ texts = [], numbers = [], children }: TableHeadProps) {
  return (
    <thead>
      <tr>
        {texts.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
        {numbers.map((name) => (
          <th key={name} scope="col" className={table.number}>
            {name}
          </th>
        ))}
        {children}
      </tr>
    </thead>
  );
}
