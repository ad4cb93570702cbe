# gpucor with CUDA, on Ubuntu's R: docker build -t gpucor . && docker run --rm --gpus all gpucor
# Without a GPU it computes on the processor: docker run --rm gpucor
# For Apptainer: apptainer build gpucor.sif docker-daemon://gpucor:latest && apptainer exec --nv gpucor.sif R
# The processor alone, a tenth of the size: docker build --build-arg BASE=ubuntu:24.04 -t gpucor-cpu .
ARG BASE=nvidia/cuda:12.9.1-devel-ubuntu24.04
ARG RUN=ubuntu:24.04

FROM ${BASE} AS build
ENV DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
RUN apt-get update && apt-get install -y --no-install-recommends r-base-core r-base-dev r-cran-matrix r-cran-withr \
  && rm -rf /var/lib/apt/lists/*
COPY . /gpucor
ARG GPUCOR_CUDA_ARCH
RUN MAKEFLAGS="-j$(nproc)" R CMD INSTALL --preclean --clean --library=/usr/local/lib/R/site-library /gpucor

# CUDA's runtime is in the package's library: the driver, which comes from the host, is all that is needed beside it.
FROM ${RUN}
ENV DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
RUN apt-get update && apt-get install -y --no-install-recommends r-base-core r-cran-matrix r-cran-withr \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/lib/R/site-library/gpucor /usr/local/lib/R/site-library/gpucor
CMD ["Rscript", "-e", "gpucor::gpuInfo()"]
