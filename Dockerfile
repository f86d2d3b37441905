# cudal2-bench on NVIDIA's CUDA image: the first stage builds, the second has what runs it.
#   docker build -t cudal2-bench .
#   docker run --rm --gpus all -v "$PWD:/work" cudal2-bench --mode server --config grid
# NVRTC and CUPTI come with the devel image; torch.matmul is left out unless libtorch is added (docs/abi.md).
ARG CUDA=13.0.1
FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04 AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    gcc g++ make git libcjson-dev zlib1g-dev libseccomp-dev libmicrohttpd-dev libopenblas-dev && rm -rf /var/lib/apt/lists/*
COPY . /src
WORKDIR /src
RUN make -j"$(nproc)" all && make PREFIX=/usr/local DESTDIR=/out install

FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04
RUN apt-get update && apt-get install -y --no-install-recommends \
    libcjson1 zlib1g libmicrohttpd12t64 libopenblas0 gnuplot-nox && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/ /
WORKDIR /work
ENTRYPOINT ["cudal2-bench"]
CMD ["--help"]
