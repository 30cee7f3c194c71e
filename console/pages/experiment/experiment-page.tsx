import {
  type ExperimentType,
  parseExperimentType,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { useParams } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { NotFound } from '../../ui/not-found.tsx';
import { AcceptancePage } from './acceptance/acceptance-page.tsx';
import { BisectPage } from './bisect/bisect-page.tsx';
import { ShadowPage } from './online/shadow-page.tsx';
import { SwitchbackPage } from './online/switchback-page.tsx';
import { BatchPage } from './result/batch-page.tsx';

/** The address of a result. */
interface PageAddress<Type extends ExperimentType = ExperimentType> {
  type: Type;
  application: string;
  id: string;
}

const PAGES: { [Type in ExperimentType]: ComponentType<PageAddress<Type>> } = {
  batch: BatchPage,
  scenario: BatchPage,
  acceptance: AcceptancePage,
  shadow: ShadowPage,
  switchback: SwitchbackPage,
  bisect: BisectPage,
};

/** The result of one experiment; the type in the address decides which. A report contains the article. */
export function ExperimentPage() {
  const { type, ...address } = useParams({ from: '/signed-in/apps/$application/experiments/$type/$id' });
  const known = parseExperimentType(type);
  return <article data-report="">{known ? <Result type={known} {...address} /> : <NotFound />}</article>;
}

function Result<Type extends ExperimentType>(address: PageAddress<Type>) {
  const Page: ComponentType<PageAddress<Type>> = PAGES[address.type];
  return <Page {...address} />;
}
