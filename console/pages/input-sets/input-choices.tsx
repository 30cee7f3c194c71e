import { useInfiniteQuery } from '@tanstack/react-query';
import { inputsQuery } from '../../client/inputs.ts';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { CheckboxList } from '../../ui/forms/checkbox-list.tsx';

interface Choice {
  id: string;
  name: string;
}

/** Check boxes of managed inputs. Those that are `listed` already come first, and may be other than managed inputs. */
export function InputChoices({
  application,
  listed = [],
  chosen,
  onChange,
}: {
  application: string;
  listed?: readonly Choice[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const list = useInfiniteQuery(inputsQuery(application));
  const ids = new Set(listed.map(({ id }) => id));
  const managed = list.data?.pages.flatMap(({ items }) => items).filter(({ id }) => !ids.has(id)) ?? [];
  const choices: Choice[] = [...listed, ...managed];
  return (
    <CheckboxList title="Inputs" choices={choices} chosen={chosen} onChange={onChange}>
      {list.isSuccess && choices.length === 0 && <p>The application has no managed input yet.</p>}
      <MoreRows list={list} count={managed.length} noun="managed input" />
    </CheckboxList>
  );
}
