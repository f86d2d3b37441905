/* cover.c TRIALS BLOCKS SD DELTA GAP_A GAP_B MIN_BLOCKS [LAYOUTS], linked with libharness.a: coverage of -max intervals and of stopping, with the harness's own code (entry.c, pair.c, interval.c, stop.c), with what choosing adds, or, with WITHOUT in the environment, without */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "tests/record_fixture.h"
#include "result/entry.h"
#include "result/pair.h"
#include "measure/stop.h"
#include "base/random.h"
static struct random R;
static double normal(void){double u=random_unit(&R),v=random_unit(&R);return sqrt(-2*log(1-u))*cos(2*M_PI*v);}
/* argv: trials, blocks(0: stop rule), sd, mode delta, gapA (true log gap of candidate layouts), gapB, families: which */
int main(int argc,char**argv){
  long trials=atol(argv[1]); unsigned fixed=atoi(argv[2]); double sd=atof(argv[3]),delta=atof(argv[4]),ga=atof(argv[5]),gb=atof(argv[6]); int minb=atoi(argv[7]);
  int nbase = argc>8?atoi(argv[8]):2; /* baseline layouts: 1 or 2 */
  double common = argc>9?atof(argv[9]):0;
  random_seed(&R,random_derive(77,"x",trials));
  struct stop_config stop={.min_blocks=minb,.look_every=minb==32?8:2,.max_blocks=512,.group_blocks=1,.delta={delta,delta}};
  long cov_max=0,cov_plain=0,excl_lo=0,excl_hi=0,n=0; double bias=0,bl=0,bias2=0, hwsum=0;
  for(long t=0;t<trials;t++){
    struct cell_record*r=fixture_record(64,MODE_OFFLINE);
    r->headline=TIMING_DEVICE;
    struct contender_record*b1=fixture_contender(r,"cublas-nn",false),*b2=nbase>1?fixture_contender(r,"cublas-tn",false):NULL,
      *c1=fixture_contender(r,"cudal2-nn",true),*c2=fixture_contender(r,"cudal2-tn",true);
    for(;;){
      unsigned b=fixture_block(r,1); double z=common*normal();
      series_add(&b1->timings[TIMING_DEVICE],b,1e4*exp(z+sd*normal()));
      if(b2)series_add(&b2->timings[TIMING_DEVICE],b,1e4*exp(gb+z+sd*normal()));
      series_add(&c1->timings[TIMING_DEVICE],b,1e4*exp(z+sd*normal()));
      series_add(&c2->timings[TIMING_DEVICE],b,1e4*exp(ga+z+sd*normal()));
      if(fixed){ if(r->blocks>=fixed)break; }
      else if(stop_decide(&stop,r)!=STOP_CONTINUE)break;
    }
    bl+=r->blocks;
    struct entries*e=malloc(sizeof*e); entries_of(r,e);
    struct entry*cm=NULL,*bm=NULL,*cn=NULL,*bn=NULL;
    for(size_t i=0;i<e->n;i++){ if(!strcmp(e->list[i].name,"cudal2-max"))cm=&e->list[i]; if(!strcmp(e->list[i].name,"cublas-max"))bm=&e->list[i]; if(!strcmp(e->list[i].name,"cudal2-nn"))cn=&e->list[i]; if(!strcmp(e->list[i].name,"cublas-nn"))bn=&e->list[i];}
    struct pair p; struct speedup s;
    match_collect(r,&(struct match){cm,bm,0},PAIR_HEALTHY_BLOCKS,&p); if(getenv("WITHOUT"))p.choosing=0; pair_speedup(&p,&s); pair_free(&p);
    cov_max+= s.low<=0&&s.high>=0; excl_lo+=s.low>0; excl_hi+=s.high<0; bias+=s.log_mean; bias2+=s.log_mean*s.log_mean; hwsum+=log1p(s.high)-s.log_mean;
    match_collect(r,&(struct match){cn,bn,0},PAIR_HEALTHY_BLOCKS,&p); pair_speedup(&p,&s); pair_free(&p);
    cov_plain+= s.low<=0&&s.high>=0; n++;
    entries_free(e);free(e);record_free(r);
  }
  printf("blocks %.1f sd %.4f gapA %.4f gapB %.4f: -max covers %.2f%% (says faster %.2f%%, slower %.2f%%), plain pair %.2f%%; mean est %+.5f%% sd %.5f%% mean hw %.5f%%\n",bl/n,sd,ga,gb,100.*cov_max/n,100.*excl_lo/n,100.*excl_hi/n,100.*cov_plain/n,100*bias/n,100*sqrt(bias2/n-bias*bias/n/n),100*hwsum/n);
}
