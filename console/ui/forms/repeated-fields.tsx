import { capitalise } from '@switchyard/contract/presentation/format-count.ts';
import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import form from './form.module.css';

interface RepeatedFieldsProps<Item> {
  /** One of them in words, such as `rule`. */
  noun: string;
  items: readonly Item[];
  /** So many stay; the default is 1. */
  minimum?: number;
  /** Says beside the button what is added. */
  hint?: string;
  create: () => Item;
  onChange: (items: readonly Item[]) => void;
  /** The fields of one, and the function that changes some of its values. */
  children: (item: Item, replace: (values: Partial<Item>) => void) => ReactNode;
}

/** Groups of fields that a person adds and removes. */
export function RepeatedFields<Item>(props: RepeatedFieldsProps<Item>) {
  const { noun, items, minimum = 1, hint, create, onChange, children } = props;
  return (
    <>
      {items.map((item, index) => (
        <fieldset key={index} className={form.item}>
          <legend>
            {capitalise(noun)} {index + 1}
          </legend>
          {children(item, (values) =>
            onChange(items.map((one, place) => (place === index ? { ...one, ...values } : one))),
          )}
          {items.length > minimum && (
            <Button kind="quiet" onPress={() => onChange(items.filter((_, place) => place !== index))}>
              Remove {noun} {index + 1}
            </Button>
          )}
        </fieldset>
      ))}
      <div className={form.actions}>
        <Button onPress={() => onChange([...items, create()])}>Add a {noun}</Button>
        {hint && <span className="soft">{hint}</span>}
      </div>
    </>
  );
}
