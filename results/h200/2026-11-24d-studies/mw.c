#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "compare/judge.h"
#include "base/random.h"
static struct random R;
static double normal(void){double u=random_unit(&R),v=random_unit(&R);return sqrt(-2*log(1-u))*cos(2*M_PI*v);}
int main(int argc,char**argv){ (void)argc;
 int nb=atoi(argv[1]),nf=atoi(argv[2]); double sb=atof(argv[3]),sf=atof(argv[4]),rho=atof(argv[5]); long T=100000,hit=0;
 double b[1024],f[1024]; random_seed(&R,3);
 for(long t=0;t<T;t++){ double x=normal(); for(int i=0;i<nb;i++){b[i]=sb*x;x=rho*x+sqrt(1-rho*rho)*normal();} x=normal(); for(int i=0;i<nf;i++){f[i]=-.03+sf*x;x=rho*x+sqrt(1-rho*rho)*normal();}
  hit+=stats_below_p((struct sample){f,nf},(struct sample){b,nb},.03)<=.05; }
 printf("base n %d sd %g, fresh n %d sd %g, rho %g: loss exactly delta, p<=.05 in %.2f%%\n",nb,sb,nf,sf,rho,100.*hit/T);
}
