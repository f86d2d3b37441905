/* null.cu - does nothing: what launching alone costs. */
extern "C" __global__ void null_kernel(void)
{
}
