import {
  type ExperimentType,
  parseExperimentType,
} from '@switchyard/contract/experiments/presentation/experiment-types.ts';
import { useParams } from '@tanstack/react-router';
import { NotFound } from '../../ui/not-found.tsx';
import { AcceptancePage } from './acceptance/acceptance-page.tsx';
import { BatchPage } from './batch/batch-page.tsx';
import { BisectPage } from './bisect/bisect-page.tsx';
import { ShadowPage } from './online/shadow-page.tsx';
import { SwitchbackPage } from './online/switchback-page.tsx';

/** The result of one experiment; the type in the address decides which. A report contains the article. */
export function ExperimentPage() {
  const { application, type, id } = useParams({
    from: '/signed-in/apps/$application/experiments/$type/$id',
  });
  return (
    <article data-report="">
      <Result application={application} type={parseExperimentType(type)} id={id} />
    </article>
  );
}

interface ResultProps {
  application: string;
  type: ExperimentType | undefined;
  id: string;
}

function Result({ type, ...address }: ResultProps) {
  switch (type) {
    case 'batch':
    case 'scenario':
      return <BatchPage type={type} {...address} />;
    case 'acceptance':
      return <AcceptancePage {...address} />;
    case 'shadow':
      return <ShadowPage {...address} />;
    case 'switchback':
      return <SwitchbackPage {...address} />;
    case 'bisect':
      return <BisectPage {...address} />;
    case undefined:
      return <NotFound />;
  }
}
