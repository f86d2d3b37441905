/* one pair only (one baseline, one candidate): coverage at the stop */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../auditor/tests/record_fixture.h"
#include "result/pair.h"
#include "measure/stop.h"
#include "base/random.h"
static struct random R;
static double normal(void){double u=random_unit(&R),v=random_unit(&R);return sqrt(-2*log(1-u))*cos(2*M_PI*v);}
int main(int argc,char**argv){
  long trials=atol(argv[1]); double sd=atof(argv[2]),delta=atof(argv[3]); int minb=atoi(argv[4]),every=atoi(argv[5]); double rho=atof(argv[6]); int fixed=atoi(argv[7]);
  random_seed(&R,random_derive(5,"y",trials));
  struct stop_config stop={.min_blocks=minb,.look_every=every,.max_blocks=512,.group_blocks=1,.delta={delta,delta}};
  long cov=0; double bl=0;
  for(long t=0;t<trials;t++){
    struct cell_record*r=fixture_record(64,MODE_OFFLINE); r->headline=TIMING_DEVICE;
    struct contender_record*b=fixture_contender(r,"torch.matmul",false),*c=fixture_contender(r,"mine",true);
    double x=normal();
    for(;;){ unsigned k=fixture_block(r,1);
      series_add(&b->timings[0],k,1e4); series_add(&c->timings[0],k,1e4*exp(sd*x)); x=rho*x+sqrt(1-rho*rho)*normal();
      if(fixed? (int)r->blocks>=fixed : stop_decide(&stop,r)!=STOP_CONTINUE)break; }
    struct pair p; struct speedup s; pair_collect(r,&b->timings[0],&c->timings[0],PAIR_HEALTHY_BLOCKS,&p); pair_speedup(&p,&s); pair_free(&p);
    cov+=s.low<=0&&s.high>=0; bl+=r->blocks; record_free(r);
  }
  printf("sd %.4f delta %.4f min %d every %d rho %.2f fixed %d: blocks %.1f covers %.2f%%\n",sd,delta,minb,every,rho,fixed,bl/trials,100.*cov/trials);
}
